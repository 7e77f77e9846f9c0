"""How many items a browser keeps ready ahead of the one on the screen."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0053_progress_and_pay")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="items_ahead",
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
    ]

"""The formats of a data set's texts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0055_preferences")]

    operations = [
        migrations.AddField(
            model_name="dataset",
            name="text_formats",
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
    ]

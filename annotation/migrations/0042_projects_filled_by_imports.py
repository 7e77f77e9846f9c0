import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0041_compared_highlights")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="filled_by",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="annotation.job",
            ),
        ),
    ]

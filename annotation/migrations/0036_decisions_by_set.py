from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0035_groups_of_raters")]

    operations = [
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                fields=["project", "method", "rule", "dimension"],
                name="decisions_by_set",
                condition=Q(is_latest=True),
            ),
        ),
    ]

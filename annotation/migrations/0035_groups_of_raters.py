from django.db import migrations, models
from django.db.models import F


def fill(apps, schema_editor):
    """Groups stood in names alone: expert/1. Where all such names of a project begin alike, they name no groups."""
    named = apps.get_model("annotation", "Rater").objects.filter(kind="external", name__contains="/")
    for project in named.order_by().values_list("project", flat=True).distinct():
        raters = list(named.filter(project=project).exclude(name=F("pseudonym")))
        for rater in raters:
            rater.group = rater.name.partition("/")[0]
        if len({rater.group for rater in raters}) > 1:
            named.model.objects.bulk_update(raters, ["group"], batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0034_documents_of_retrievals")]

    operations = [
        migrations.AddField(
            "rater", "group", models.CharField(max_length=200, blank=True, default="", db_default="")
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]

"""Items of one mind whose label is improbable wait for adjudicators, too. A generated column is made anew."""

from django.db import migrations, models
from django.db.models import F, Q

LOW_POSTERIOR = 0.8
INDEXES = (
    models.Index(
        "project",
        F("distance").desc(),
        "item",
        "is_flagged",
        "is_commented",
        name="cases_by_distance",
        condition=Q(is_waiting=True),
    ),
    models.Index(
        "project",
        F("entropy").desc(),
        "item",
        "distance",
        "is_flagged",
        "is_commented",
        name="cases_by_entropy",
        condition=Q(is_waiting=True),
    ),
    models.Index(
        fields=["project", "since", "item", "distance", "is_flagged", "is_commented"],
        name="cases_by_age",
        condition=Q(is_waiting=True),
    ),
)


def mark(apps, schema_editor):
    rows = apps.get_model("annotation", "Case").objects.filter(posterior__lt=LOW_POSTERIOR, undecided__gt=0)
    rows.update(is_improbable=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0037_answers_of_models")]

    operations = [
        *(migrations.RemoveIndex("case", index.name) for index in INDEXES),
        migrations.RemoveField("case", "is_waiting"),
        migrations.AddField("case", "is_improbable", models.BooleanField(db_default=False, default=False)),
        migrations.AddField(
            "case",
            "is_waiting",
            models.GeneratedField(
                expression=Q(undecided__gt=0) | Q(is_flagged=True) | Q(is_commented=True) | Q(is_improbable=True),
                output_field=models.BooleanField(),
                db_persist=True,
            ),
        ),
        *(migrations.AddIndex("case", index) for index in INDEXES),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]

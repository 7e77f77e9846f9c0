"""A claim is judged as such, too: those that are stored get their units."""

import django.db.models.deletion
from django.db import migrations, models

BATCH = 5_000
LINKS = {
    "claim": ("claim",),
    "evidence": ("evidence",),
    "pair": ("pair",),
    "question": ("question",),
    "response": ("response",),
    "triplet": ("triplet",),
    "sub_sentence": ("sub_sentence",),
    "atomic_claim": ("atomic_claim",),
    "aspect": ("aspect",),
    "response_aspect": ("response", "aspect"),
}
ALL_LINKS = ("claim", "evidence", "pair", "question", "response", "triplet", "sub_sentence", "atomic_claim", "aspect")


def links_fit_kind():
    fits = models.Q()
    for kind, links in LINKS.items():
        fits |= models.Q(kind=kind, **{f"{link}__isnull": link not in links for link in ALL_LINKS})
    return fits


def make_units(apps, schema_editor):
    Claim, Unit = apps.get_model("annotation", "Claim"), apps.get_model("annotation", "Unit")
    made = []
    for claim in Claim.objects.order_by("pk").iterator(BATCH):
        made.append(
            Unit(
                dataset_id=claim.dataset_id,
                batch_id=claim.batch_id,
                kind="claim",
                key=claim.key,
                version=claim.version,
                superseded_at=claim.superseded_at,
                claim_id=claim.pk,
            )
        )
        if len(made) == BATCH:
            Unit.objects.bulk_create(made)
            made = []
    Unit.objects.bulk_create(made)
    _settle(schema_editor)


def drop_units(apps, schema_editor):
    apps.get_model("annotation", "Unit").objects.filter(kind="claim").delete()
    _settle(schema_editor)


def _settle(schema_editor):
    """PostgreSQL alters no table while checks of its rows are put off."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0014_what_releases_bring"),
    ]

    operations = [
        migrations.RemoveConstraint("unit", "unit_links_fit_kind"),
        migrations.AddField(
            "unit",
            "claim",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="units",
                to="annotation.claim",
            ),
        ),
        migrations.AlterField(
            "unit",
            "kind",
            models.CharField(
                choices=[
                    ("claim", "Claim"),
                    ("evidence", "Evidence"),
                    ("pair", "Pair"),
                    ("question", "Question"),
                    ("response", "Response"),
                    ("triplet", "Triplet"),
                    ("sub_sentence", "Sub Sentence"),
                    ("atomic_claim", "Atomic Claim"),
                    ("aspect", "Aspect"),
                    ("response_aspect", "Response Aspect"),
                ],
                max_length=20,
            ),
        ),
        migrations.RunPython(make_units, drop_units),
        migrations.AddConstraint(
            "unit",
            models.CheckConstraint(
                condition=links_fit_kind(), name="unit_links_fit_kind"
            ),
        ),
    ]

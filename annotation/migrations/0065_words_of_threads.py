from django.db import migrations, models


def fill_in(apps, schema_editor):
    """From the latest answer, or else from the skip."""
    thread, revision, assignment = (apps.get_model("annotation", name) for name in ("Thread", "Revision", "Assignment"))
    rows = list(thread.objects.all())
    written = revision.objects.filter(is_latest=True, annotation__item__threads__isnull=False).exclude(comment="")
    comments = written.values_list("annotation__item", "annotation__rater", "comment").distinct()
    words = {(item, rater): text for item, rater, text in comments}
    skips = assignment.objects.filter(state="skipped", item__threads__isnull=False).exclude(skip_reason="")
    for item, rater, text in skips.values_list("item", "rater", "skip_reason").distinct():
        words.setdefault((item, rater), text)
    for row in rows:
        row.words = words.get((row.item_id, row.rater_id), "")
    thread.objects.bulk_update(rows, ["words"], batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0064_further_where_uncertain")]

    operations = [
        migrations.AddField("thread", "words", models.TextField(blank=True, db_default="", default="")),
        migrations.RunPython(fill_in, migrations.RunPython.noop, elidable=True),
    ]

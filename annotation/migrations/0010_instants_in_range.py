"""Instants that came in before anything looked at their range, and that no reader gives back.

What was there is kept as text: in the revision's metadata under the name of the field. A page that showed a suggestion
showed it, whatever its clock said, so that moment becomes the one at which the item was handed out.
"""

from django.db import migrations, models

OUT_OF_RANGE = "{column} < '1900-01-01 00:00:00+00' OR {column} >= '2200-01-01 00:00:00+00'"
NOTED = {
    "postgresql": "metadata || jsonb_build_object('{column}_out_of_range', {column}::text)",
    "sqlite": "json_set(metadata, '$.{column}_out_of_range', {column})",
}


def clear_instants(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    with schema_editor.connection.cursor() as cursor:
        for column in ("shown_at", "submitted_at"):
            note, where = NOTED[vendor].format(column=column), OUT_OF_RANGE.format(column=column)
            cursor.execute(f"UPDATE annotation_revision SET metadata = {note}, {column} = NULL WHERE {where}")
        where = OUT_OF_RANGE.format(column="suggestions_shown_at")
        now = "now()" if vendor == "postgresql" else "datetime('now')"
        moment = f"COALESCE(leased_at, done_at, {now})"
        cursor.execute(f"UPDATE annotation_assignment SET suggestions_shown_at = {moment} WHERE {where}")
        where = OUT_OF_RANGE.format(column="shown_at")
        cursor.execute(f"UPDATE annotation_assignment SET shown_at = COALESCE(leased_at, done_at) WHERE {where}")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0009_guidelines_acknowledged_and_labels_seen")]

    operations = [
        migrations.AlterField("user", "username", models.CharField(max_length=254, unique=True)),
        migrations.RunPython(clear_instants, migrations.RunPython.noop),
    ]

"""What items are found by, with an index of runs of three characters where the database has one."""

import django.db.models.deletion
from django.db import DatabaseError, migrations, models, transaction

INDEX = "item_words_by_parts"
BATCH = 5000
# Kind of unit -> where its title stands, seen from the unit.
TITLES = {
    "claim": ["claim__text"],
    "evidence": [f"evidence__{parent}__text" for parent in ("claim", "question", "atomic_claim", "aspect")],
    "question": ["question__text"],
    "response": ["response__claim__text", "response__question__text"],
    "triplet": ["triplet__head", "triplet__relation", "triplet__tail"],
    "sub_sentence": ["sub_sentence__text"],
    "atomic_claim": ["atomic_claim__text"],
    "aspect": ["aspect__text"],
    "response_aspect": ["aspect__text"],
    "pair": ["pair__hypothesis", "pair__premise"],
}
# SQLite: a table for each, since one that says in which column a run is takes four times the space.
COLUMNS = ("key", "title")
FTS = """
CREATE VIRTUAL TABLE {table} USING fts5(
    {column}, content='annotation_itemwords', content_rowid='id', detail='none', tokenize='trigram')
"""
ADD = "INSERT INTO {table} (rowid, {column}) VALUES (new.id, new.{column});"
REMOVE = "INSERT INTO {table} ({table}, rowid, {column}) VALUES ('delete', old.id, old.{column});"
TRIGGERS = {"insert": ADD, "delete": REMOVE, "update": f"{REMOVE} {ADD}"}
TRIGGER = "CREATE TRIGGER {table}_{event} AFTER {event} ON annotation_itemwords BEGIN {statement} END"
REBUILD = "INSERT INTO {table} ({table}) VALUES ('rebuild')"


def fill(apps, schema_editor):
    Item, ItemWords = (apps.get_model("annotation", name) for name in ("Item", "ItemWords"))
    for kind, columns in TITLES.items():
        last = 0
        rows = Item.objects.filter(anchor__kind=kind).order_by("pk")
        rows = rows.values_list("pk", "project_id", "key", *(f"anchor__{column}" for column in columns))
        while part := list(rows.filter(pk__gt=last)[:BATCH]):
            last = part[-1][0]
            ItemWords.objects.bulk_create(
                ItemWords(
                    item_id=pk, project_id=project, key=key.casefold(), title=" · ".join(filter(None, texts)).casefold()
                )
                for pk, project, key, *texts in part
            )


def make_index(apps, schema_editor):
    """Where the database has no such index, items are searched without it (`annotation.projects.searching`)."""
    connection = schema_editor.connection
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
                parts = "key gin_trgm_ops, title gin_trgm_ops"
                cursor.execute(f"CREATE INDEX {INDEX} ON annotation_itemwords USING gin ({parts})")
            else:
                for column in COLUMNS:
                    names = {"table": f"{INDEX}_{column}", "column": column}
                    cursor.execute(FTS.format(**names))
                    for event, statement in TRIGGERS.items():
                        cursor.execute(TRIGGER.format(event=event, statement=statement.format(**names), **names))
                    cursor.execute(REBUILD.format(**names))
    except DatabaseError as error:
        print(f"\n  No index to search items by ({str(error).strip()}). See docs/deployment.md.")


def drop_index(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")
        else:
            for column in COLUMNS:
                cursor.execute(f"DROP TABLE IF EXISTS {INDEX}_{column}")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0046_accounts_and_addresses")]

    operations = [
        migrations.CreateModel(
            name="ItemWords",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=1200)),
                ("title", models.TextField()),
                (
                    "item",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="words", to="annotation.item"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.project"
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("state", "skipped")), fields=["project", "item"], name="skipped_work"
            ),
        ),
        *(
            migrations.AddIndex(
                model_name="evidence",
                index=models.Index(
                    condition=models.Q((f"{parent}__isnull", False)), fields=["dataset"], name=f"evidence_of_{parent}"
                ),
            )
            for parent in ("claim", "question", "atomic_claim", "aspect")
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(make_index, drop_index),
    ]

from django.db import migrations, models
from django.db.models.functions import Length


def refuse_to_cut(apps, schema_editor):
    """The way back would cut longer answers without a word, since PostgreSQL casts them."""
    for name in ("Judgement", "Suggestion", "Decision"):
        rows = apps.get_model("annotation", name).objects.annotate(chars=Length("label"))
        if rows.filter(chars__gt=80).exists():
            raise ValueError(f"{name}: answers of more than 80 characters do not fit; export their projects and delete them")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_label_sets")]

    operations = [
        migrations.AlterField("judgement", "label", models.TextField()),
        migrations.AlterField("suggestion", "label", models.TextField()),
        migrations.AlterField("decision", "label", models.TextField(blank=True)),
        migrations.RunPython(migrations.RunPython.noop, refuse_to_cut),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_label_sets")]

    operations = [
        migrations.AlterField("judgement", "label", models.TextField()),
        migrations.AlterField("suggestion", "label", models.TextField()),
        migrations.AlterField("decision", "label", models.TextField(blank=True)),
    ]

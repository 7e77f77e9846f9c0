from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0060_language_of_person")]

    operations = [
        migrations.AddField(
            "span", "severity", models.CharField(blank=True, db_default="", default="", max_length=80)
        ),
        migrations.AddField("span", "reason", models.TextField(blank=True, db_default="", default="")),
        migrations.RemoveConstraint("span", "span_once"),
        migrations.AddConstraint(
            "span",
            models.UniqueConstraint(
                fields=("judgement", "field", "start", "end", "label", "severity"), name="span_once"
            ),
        ),
    ]

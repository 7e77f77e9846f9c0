from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0018_tokens_of_programs")]

    operations = [
        migrations.AddField(
            "span", "label", models.CharField(max_length=80, blank=True, default="", db_default="")
        ),
        migrations.RemoveConstraint("span", "span_once"),
        migrations.AddConstraint(
            "span",
            models.UniqueConstraint(fields=["judgement", "field", "start", "end", "label"], name="span_once"),
        ),
    ]

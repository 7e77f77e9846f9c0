from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0063_what_releases_say_of_raters")]

    operations = [
        migrations.AlterField(
            "project",
            "further",
            models.CharField(
                choices=[
                    ("off", "No"),
                    ("tied", "Where no label leads"),
                    ("differ", "Wherever answers differ"),
                    ("uncertain", "Where the label is not certain"),
                ],
                db_default="off",
                default="off",
                max_length=10,
            ),
        ),
        migrations.AddField(
            "project", "further_percent", models.PositiveSmallIntegerField(db_default=95, default=95)
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0001_squashed_0038_improbable_cases"),
    ]

    operations = [
        migrations.AlterField(
            model_name="webanswer",
            name="kind",
            field=models.CharField(choices=[("query", "Query"), ("search", "Search"), ("page", "Page")], max_length=10),
        ),
    ]

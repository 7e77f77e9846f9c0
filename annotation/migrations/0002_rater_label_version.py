from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="rater",
            name="label_version",
            field=models.PositiveBigIntegerField(default=0),
        ),
    ]

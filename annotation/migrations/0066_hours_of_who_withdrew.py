from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0065_words_of_threads")]

    operations = [migrations.AddField("consentwithdrawal", "given_at", models.JSONField(db_default=[], default=list))]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0061_spans_have_severities")]

    operations = [migrations.AddField("rater", "origin", models.JSONField(db_default={}, default=dict))]

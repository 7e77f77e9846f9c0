"""The keys that a person has chosen for the labelling page and the page of adjudicators."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0054_items_ahead")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="own_keys",
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
    ]

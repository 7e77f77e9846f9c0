import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# As in annotation/projects/reach.py when this was written: items that were left without an annotator before reach was
# checked.
MARK_STUCK = """
UPDATE annotation_item SET state = 'stuck'
WHERE state = 'active'
AND EXISTS (SELECT 1 FROM annotation_assignment place WHERE place.item_id = annotation_item.id AND place.state = 'open')
AND EXISTS (SELECT 1 FROM annotation_assignment held
    WHERE held.item_id = annotation_item.id AND held.state IN ('leased', 'done', 'skipped'))
AND NOT EXISTS (
    SELECT 1 FROM annotation_membership member JOIN annotation_user person ON person.id = member.user_id
    LEFT JOIN annotation_rater rater ON rater.project_id = member.project_id AND rater.user_id = member.user_id
    WHERE member.project_id = annotation_item.project_id AND member.role = 'annotator'
    AND member.is_active AND person.is_active
    AND NOT EXISTS (SELECT 1 FROM annotation_assignment own
        WHERE own.item_id = annotation_item.id AND own.rater_id = rater.id)
    AND NOT EXISTS (SELECT 1 FROM annotation_annotation said
        WHERE said.item_id = annotation_item.id AND said.rater_id = rater.id)
)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0042_projects_filled_by_imports'),
    ]

    operations = [
        migrations.CreateModel(
            name='SettingsChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('what', models.CharField(choices=[('settings', 'Settings'), ('state', 'State'), ('questions', 'Questions'), ('guidelines', 'Guidelines'), ('roles', 'Roles'), ('card', 'Data set card'), ('prompt', 'Prompt'), ('held-out', 'Held-out part'), ('dataset', 'Data set')], max_length=12)),
                ('about', models.CharField(blank=True, max_length=200)),
                ('changes', models.JSONField(default=dict)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('dataset', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='settings_changes', to='annotation.dataset')),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='settings_changes', to='annotation.project')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.RunSQL(MARK_STUCK, migrations.RunSQL.noop),
    ]

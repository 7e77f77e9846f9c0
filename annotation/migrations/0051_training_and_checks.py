"""Items set apart with a key for training, qualification and checks, and how people do on them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0050d_kinds_of_jobs'),
    ]

    operations = [
        migrations.CreateModel(
            name='ItemKey',
            fields=[
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='item_key', serialize=False, to='annotation.item')),
                ('purpose', models.CharField(choices=[('training', 'Training'), ('qualification', 'Qualification'), ('check', 'Check')], max_length=13)),
                ('answers', models.JSONField(default=list)),
                ('reason', models.TextField(blank=True)),
                ('is_loud', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='KeyResult',
            fields=[
                ('revision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='key_result', serialize=False, to='annotation.revision')),
                ('purpose', models.CharField(choices=[('training', 'Training'), ('qualification', 'Qualification'), ('check', 'Check')], max_length=13)),
                ('attempt', models.PositiveSmallIntegerField(default=1)),
                ('right', models.PositiveIntegerField()),
                ('asked', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='item',
            name='one_item_per_anchor',
        ),
        migrations.AddField(
            model_name='project',
            name='check_action',
            field=models.CharField(choices=[('none', 'Nothing: the results are listed'), ('warn', 'Warn the person'), ('pause', 'Pause the person, and give their open work to others'), ('ask', 'Ask the researchers: the person goes on until they decide')], db_default='none', default='none', max_length=6),
        ),
        migrations.AddField(
            model_name='project',
            name='check_every',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='project',
            name='check_failures',
            field=models.PositiveSmallIntegerField(db_default=2, default=2),
        ),
        migrations.AddField(
            model_name='project',
            name='check_window',
            field=models.PositiveSmallIntegerField(db_default=5, default=5),
        ),
        migrations.AddField(
            model_name='project',
            name='has_learning',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='project',
            name='pass_percent',
            field=models.PositiveSmallIntegerField(db_default=80, default=80),
        ),
        migrations.AddField(
            model_name='project',
            name='qualification_tries',
            field=models.PositiveSmallIntegerField(db_default=2, default=2),
        ),
        migrations.AddField(
            model_name='project',
            name='shows_keys',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='rater',
            name='admitted_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='rater',
            name='attempt',
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name='rater',
            name='extra_tries',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='rater',
            name='standing',
            field=models.CharField(blank=True, choices=[('failed', 'Not qualified'), ('paused', 'Paused after failed checks'), ('asked', 'Failed checks: decide'), ('warned', 'Warned after failed checks')], db_default='', default='', max_length=8),
        ),
        migrations.AddField(
            model_name='rater',
            name='standing_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='rater',
            name='turn',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='rater',
            name='warning_turn',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='assignment',
            name='reason',
            field=models.CharField(choices=[('planned', 'Planned'), ('replaces-skip', 'Replaces Skip'), ('extra', 'Extra'), ('further', 'Further'), ('training', 'Training'), ('qualification', 'Qualification'), ('check', 'Check')], default='planned', max_length=20),
        ),
        migrations.AlterField(
            model_name='item',
            name='state',
            field=models.CharField(choices=[('active', 'Active'), ('stuck', 'Stuck'), ('retired', 'Retired'), ('apart', 'Set apart')], default='active', max_length=10),
        ),
        migrations.AlterField(
            model_name='settingschange',
            name='what',
            field=models.CharField(choices=[('settings', 'Settings'), ('state', 'State'), ('questions', 'Questions'), ('guidelines', 'Guidelines'), ('roles', 'Roles'), ('card', 'Data set card'), ('prompt', 'Prompt'), ('consent', 'Consent'), ('person', 'Questionnaire'), ('study-link', 'Study link'), ('held-out', 'Held-out part'), ('dataset', 'Data set'), ('account', 'Account'), ('learning', 'Training and checks')], max_length=12),
        ),
        migrations.AddConstraint(
            model_name='item',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'apart'), _negated=True), fields=('project', 'anchor'), name='one_item_per_anchor'),
        ),
        migrations.AddField(
            model_name='itemkey',
            name='created_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='itemkey',
            name='original',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='copies', to='annotation.item'),
        ),
        migrations.AddField(
            model_name='itemkey',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='item_keys', to='annotation.project'),
        ),
        migrations.AddField(
            model_name='keyresult',
            name='item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='key_results', to='annotation.item'),
        ),
        migrations.AddField(
            model_name='keyresult',
            name='rater',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='key_results', to='annotation.rater'),
        ),
        migrations.AddIndex(
            model_name='itemkey',
            index=models.Index(fields=['project', 'purpose'], name='keys_by_purpose'),
        ),
        migrations.AddIndex(
            model_name='keyresult',
            index=models.Index(fields=['rater', 'purpose', 'attempt'], name='key_results_of_a_rater'),
        ),
    ]

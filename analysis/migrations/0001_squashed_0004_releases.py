"""All tables as version 0.1.0 leaves them."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('analysis', '0001_initial'), ('analysis', '0002_releases'), ('analysis', '0003_release_versions'), ('analysis', '0004_releases_withdrawn_public_and_published')]

    initial = True

    dependencies = [
        ('annotation', '0001_squashed_0038_improbable_cases'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='HubToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('secret', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='hub_token', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('number', models.PositiveIntegerField()),
                ('note', models.TextField(blank=True)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('labels_sha256', models.CharField(blank=True, max_length=64)),
                ('manifest', models.JSONField(default=dict)),
                ('moment', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('version', models.CharField(blank=True, max_length=40)),
                ('decisions', models.CharField(blank=True, max_length=60)),
                ('filters', models.JSONField(default=dict)),
                ('public_since', models.DateTimeField(null=True)),
                ('withdrawal', models.TextField(blank=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='release', to='annotation.job')),
                ('others', models.ManyToManyField(related_name='shared_releases', to='annotation.project')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotation.project')),
                ('public_job', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='public_release', to='annotation.job')),
                ('withdrawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='HubPublication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('repository', models.CharField(max_length=200)),
                ('is_private', models.BooleanField(default=True)),
                ('is_update', models.BooleanField(default=False)),
                ('is_created', models.BooleanField(default=False)),
                ('with_comments', models.BooleanField(default=False)),
                ('secret', models.TextField(blank=True)),
                ('address', models.URLField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='publication', to='annotation.job')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='publications', to='analysis.release')),
            ],
        ),
        migrations.CreateModel(
            name='StoredReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('parameters', models.JSONField(default=dict)),
                ('parameters_hash', models.CharField(max_length=64)),
                ('label_version', models.PositiveBigIntegerField(null=True)),
                ('result', models.JSONField(default=dict)),
                ('behind', models.JSONField(default=dict)),
                ('computed_at', models.DateTimeField(null=True)),
                ('is_partial', models.BooleanField(default=False)),
                ('pictures', models.JSONField(default=dict)),
                ('scope', models.JSONField(default=dict)),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.job')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stored_reports', to='annotation.project')),
            ],
        ),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.UniqueConstraint(fields=('project', 'number'), name='release_number_once'),
        ),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.UniqueConstraint(condition=models.Q(('version', ''), _negated=True), fields=('project', 'version'), name='release_version_once'),
        ),
        migrations.AddConstraint(
            model_name='storedreport',
            constraint=models.UniqueConstraint(fields=('project', 'name', 'parameters_hash'), name='one_stored_report'),
        ),
    ]

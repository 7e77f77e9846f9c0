"""Comparisons of two to five outputs for a prompt, and units of them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0054b_own_keys'),
    ]

    operations = [
        migrations.CreateModel(
            name='OutputComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=400)),
                ('version', models.PositiveSmallIntegerField(default=1)),
                ('superseded_at', models.DateTimeField(null=True)),
                ('metadata', models.JSONField(default=dict)),
                ('output_a', models.TextField()),
                ('output_b', models.TextField()),
                ('output_c', models.TextField(blank=True)),
                ('output_d', models.TextField(blank=True)),
                ('output_e', models.TextField(blank=True)),
                ('system_a', models.CharField(blank=True, max_length=200)),
                ('system_b', models.CharField(blank=True, max_length=200)),
                ('system_c', models.CharField(blank=True, max_length=200)),
                ('system_d', models.CharField(blank=True, max_length=200)),
                ('system_e', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.RemoveConstraint(
            model_name='unit',
            name='unit_links_fit_kind',
        ),
        migrations.AlterField(
            model_name='unit',
            name='kind',
            field=models.CharField(choices=[('claim', 'Claim'), ('evidence', 'Evidence'), ('pair', 'Pair'), ('question', 'Question'), ('response', 'Response'), ('triplet', 'Triplet'), ('sub_sentence', 'Sub Sentence'), ('atomic_claim', 'Atomic Claim'), ('aspect', 'Aspect'), ('response_aspect', 'Response Aspect'), ('comparison', 'Comparison')], max_length=20),
        ),
        migrations.AddField(
            model_name='outputcomparison',
            name='batch',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.contentbatch'),
        ),
        migrations.AddField(
            model_name='outputcomparison',
            name='dataset',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.dataset'),
        ),
        migrations.AddField(
            model_name='outputcomparison',
            name='question',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='annotation.question'),
        ),
        migrations.AddField(
            model_name='unit',
            name='comparison',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='units', to='annotation.outputcomparison'),
        ),
        migrations.AddConstraint(
            model_name='unit',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', False), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'claim'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', False), ('kind', 'evidence'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'pair'), ('pair__isnull', False), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'question'), ('pair__isnull', True), ('question__isnull', False), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'response'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', False), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'triplet'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', False)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'sub_sentence'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', False), ('triplet__isnull', True)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', False), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'atomic_claim'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', False), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'aspect'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', False), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', True), ('evidence__isnull', True), ('kind', 'response_aspect'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', False), ('sub_sentence__isnull', True), ('triplet__isnull', True)), models.Q(('aspect__isnull', True), ('atomic_claim__isnull', True), ('claim__isnull', True), ('comparison__isnull', False), ('evidence__isnull', True), ('kind', 'comparison'), ('pair__isnull', True), ('question__isnull', True), ('response__isnull', True), ('sub_sentence__isnull', True), ('triplet__isnull', True)), _connector='OR'), name='unit_links_fit_kind'),
        ),
        migrations.AddConstraint(
            model_name='outputcomparison',
            constraint=models.UniqueConstraint(fields=('dataset', 'key', 'version'), name='outputcomparison_key_per_dataset'),
        ),
        migrations.AddConstraint(
            model_name='outputcomparison',
            constraint=models.UniqueConstraint(condition=models.Q(('superseded_at', None)), fields=('dataset', 'key'), name='outputcomparison_one_newest_version'),
        ),
    ]

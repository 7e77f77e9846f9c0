"""Decisions get numbers, their people as raters, and what these had been shown, which is not known of old ones."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

import annotation.models.projects


def bring_people_along(apps, schema_editor):
    Decision, Rater, User = (apps.get_model("annotation", name) for name in ("Decision", "Rater", "User"))
    decided = Decision.objects.exclude(decided_by_user=None)
    for project, person in decided.order_by().values_list("project_id", "decided_by_user").distinct():
        user = User.objects.get(pk=person)
        rater, _ = Rater.objects.get_or_create(
            project_id=project,
            user=user,
            defaults={
                "kind": "member",
                "name": (user.name or user.username)[:200],
                "pseudonym": annotation.models.projects.new_pseudonym(),
            },
        )
        Decision.objects.filter(project_id=project, decided_by_user=person).update(decided_by=rater)
    Decision.objects.filter(method="adjudicated").update(decided_at=models.F("created_at"))
    _settle(schema_editor)


def take_people_back(apps, schema_editor):
    Decision = apps.get_model("annotation", "Decision")
    Decision.objects.filter(Q(is_latest=False) | Q(is_withdrawn=True)).delete()
    for pk, user in Decision.objects.exclude(decided_by=None).values_list("pk", "decided_by__user"):
        Decision.objects.filter(pk=pk).update(decided_by_user=user)
    _settle(schema_editor)


def _settle(schema_editor):
    """PostgreSQL alters no table while checks of its rows are put off."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0011_what_a_job_waits_for"),
    ]

    operations = [
        migrations.RenameField("decision", "decided_by", "decided_by_user"),
        migrations.AddField(
            "decision",
            "decided_by",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="decisions",
                to="annotation.rater",
            ),
        ),
        migrations.AddField("decision", "decided_at", models.DateTimeField(null=True)),
        migrations.AddField("decision", "number", models.PositiveIntegerField(default=1)),
        migrations.AddField("decision", "is_latest", models.BooleanField(default=True)),
        migrations.AddField("decision", "is_withdrawn", models.BooleanField(default=False)),
        migrations.AddField("decision", "seen", models.JSONField(null=True)),
        migrations.AlterField("decision", "label", models.CharField(blank=True, max_length=80)),
        migrations.AlterField(
            "decision",
            "method",
            models.CharField(
                choices=[
                    ("adjudicated", "Adjudicated"),
                    ("imported", "Imported"),
                    ("rule", "Rule"),
                    ("majority", "Majority"),
                ],
                max_length=40,
            ),
        ),
        migrations.RunPython(bring_people_along, take_people_back),
        migrations.RemoveField("decision", "decided_by_user"),
        migrations.RemoveConstraint("decision", "one_decision_per_method"),
        migrations.AddConstraint(
            "decision",
            models.UniqueConstraint(
                fields=["project", "unit", "dimension", "method", "number"], name="decision_number_once"
            ),
        ),
        migrations.AddConstraint(
            "decision",
            models.UniqueConstraint(
                condition=Q(is_latest=True),
                fields=["project", "unit", "dimension", "method"],
                name="one_latest_decision_per_method",
            ),
        ),
        migrations.AddConstraint(
            "decision",
            models.CheckConstraint(
                condition=Q(is_withdrawn=True, label="") | (Q(is_withdrawn=False) & ~Q(label="")),
                name="withdrawn_decision_has_no_label",
            ),
        ),
        migrations.CreateModel(
            "Shown",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", models.CharField(max_length=36)),
                ("first_at", models.DateTimeField(auto_now_add=True)),
                (
                    "item",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.item",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.project"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["user", "item", "what"], name="shown_once"),
                    models.UniqueConstraint(
                        condition=Q(item=None), fields=["user", "project", "what"], name="shown_of_every_item_once"
                    ),
                ],
            },
        ),
    ]

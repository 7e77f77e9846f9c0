from django.db import migrations


def fill(apps, schema_editor):
    """Count the cases of what was labelled before anew, with their disagreements."""
    from annotation.projects import cases
    from annotation.task_types import configured, task_type

    for project in apps.get_model("annotation", "Project").objects.iterator():
        parts = list(cases.parts(project.pk, None))
        if parts:
            kind = configured(task_type(project.task_type), project.options)
            for part in parts:
                cases.count(project, kind, part)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0028_disagreements")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]

from django.db import migrations


def fill(apps, schema_editor):
    """Count the cases of projects anew in which labelled highlights are a part of the answer."""
    from annotation.projects import cases
    from annotation.task_types import configured, task_type

    for project in apps.get_model("annotation", "Project").objects.iterator():
        kind = configured(task_type(project.task_type), project.options)
        if cases.compares_highlights(kind):
            for part in cases.parts(project.pk, None):
                cases.count(project, kind, part)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0040_rows_of_runs")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]

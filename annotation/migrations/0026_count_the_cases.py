from django.db import migrations


def fill(apps, schema_editor):
    """Count the cases of what was labelled before they were stored."""
    from annotation.projects import cases

    def model(name):
        return apps.get_model("annotation", name)

    for project in model("Project").objects.iterator():
        parts = list(cases.parts(project.pk, None, model))
        if parts:
            kind = _kind(model, project)
            for part in parts:
                cases.count(project, kind, part, model)


def _kind(model, project):
    from annotation.task_types import configured, task_type

    return configured(task_type(project.task_type), project.options)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0025_cases_of_adjudicators")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]

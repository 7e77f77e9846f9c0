"""The pages of the work itself; each area lists its own URLs next to its views."""

from django.urls import path

from annotation.datasets import views as datasets
from annotation.decisions import desk_views as adjudication
from annotation.decisions import views as items
from annotation.demo.views import style
from annotation.exports import views as exports
from annotation.imports import views as imports
from annotation.imports.claims import views as claims
from annotation.imports.guided import views as guided
from annotation.imports.pairs import views as pairs
from annotation.jobs import views as jobs
from annotation.machines import views as machines
from annotation.machines.kinds import run_kinds
from annotation.machines.prompts import views as prompts
from annotation.machines.runs.views import checkers
from annotation.participation.views import consent, joining, questionnaires, taking_part
from annotation.participation.views import extending as study_extending
from annotation.participation.views import links as study_links
from annotation.projects.views import history, home, projects, starting
from annotation.webhooks import views as webhooks
from annotation.work.views import comments, keyed_items, label_sets, labelling, my_work, options

urlpatterns = [
    path("style/", style, name="style"),
    *home.urlpatterns,
    *projects.urlpatterns,
    *history.urlpatterns,
    *starting.urlpatterns,
    *study_extending.urlpatterns,
    *study_links.urlpatterns,
    *joining.urlpatterns,
    *consent.urlpatterns,
    *taking_part.urlpatterns,
    *questionnaires.urlpatterns,
    *options.urlpatterns,
    *label_sets.urlpatterns,
    *items.urlpatterns,
    *adjudication.urlpatterns,
    *datasets.urlpatterns,
    *guided.urlpatterns,
    *imports.urlpatterns,
    *claims.urlpatterns,
    *pairs.urlpatterns,
    *jobs.urlpatterns,
    *labelling.urlpatterns,
    *my_work.urlpatterns,
    *comments.urlpatterns,
    *keyed_items.urlpatterns,
    *(page for kind in run_kinds().values() for page in machines.pages_of(kind)),
    *checkers.urlpatterns,
    *prompts.urlpatterns,
    *exports.urlpatterns,
    *webhooks.urlpatterns,
]

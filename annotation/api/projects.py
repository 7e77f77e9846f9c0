"""Projects, with their items, units, annotations and decisions."""

from django.core.exceptions import PermissionDenied
from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils.datastructures import MultiValueDict
from rest_framework.response import Response

from annotation import access
from annotation.access import ADJUDICATOR, RESEARCHER
from annotation.api import shapes
from annotation.api.problems import Problem, invalid, invalid_form
from annotation.api.routes import TRUTH, Listing, QueryFilter, Route
from annotation.api.uploading import IntoProject
from annotation.decisions import adjudicating
from annotation.decisions.desk import spans_to_store
from annotation.decisions.forms import DecisionForm
from annotation.formats.content.format import INFO as CONTENT
from annotation.machines.runs.checker_inputs import checker_inputs, reader_of
from annotation.models import (
    Annotation,
    Assignment,
    Decision,
    Item,
    ItemKey,
    ItemUnit,
    Judgement,
    KeyResult,
    Project,
    Rater,
    Revision,
    Shown,
    Span,
    Unit,
    answered_at,
    opened_at,
)
from annotation.projects import managing
from annotation.projects.forms.projects import ProjectForm
from annotation.projects.item_job import start_item_job
from annotation.work import reserving, showing
from annotation.work.answer_rules import InvalidSubmission
from annotation.work.label_access import API, labels_served
from annotation.work.learning import keys
from annotation.work.queries.unit_words import words_of


class ProjectsRoute(Listing):
    """The projects that you are in."""

    shape, request_shape, status = shapes.ProjectShape, shapes.NewProject, 201
    response_shape = shapes.ProjectDetailShape
    filters = {"state": QueryFilter("state", Project.State.values), "dataset": QueryFilter("dataset__slug")}

    def rows(self, request):
        rows = access.visible_projects(request.user).select_related("dataset")
        if "dataset" in request.query_params:
            rows = rows.filter(pk__in=access.researched_projects(request.user))
        return rows

    def shown_with(self, request) -> dict:
        return {"researched": set(access.researched_projects(request.user).values_list("pk", flat=True))}

    def post(self, request):
        """A new project, whose items are made in the background; it is open once they are."""
        if not access.may_create(request.user):
            raise PermissionDenied("Your account may not create projects; ask a site administrator")
        values = {name: value for name, value in self.validated_body(request).items() if value is not None}
        form = ProjectForm(values, datasets=access.visible_datasets(request.user), user=request.user)
        form.fields["dataset"].to_field_name = "slug"
        if not form.is_valid():
            raise invalid_form(form)
        project = managing.create_project(request.user, **form.arguments())
        job = start_item_job(project, request.user)
        shown = shapes.ProjectDetailShape(project, context={"researched": {project.pk}}).data
        return Response(shown, status=201, headers={"Location": f"{request.path}{project.slug}/", "X-Job": job.uuid})


class ProjectDetailRoute(Route):
    """One project, with its questions."""

    shape = shapes.ProjectDetailShape

    def get(self, request, slug):
        project = access.project_for(request.user, slug)
        is_researcher = RESEARCHER in access.roles_of(request.user, project)
        return Response(self.shape(project, context={"researched": {project.pk} if is_researcher else set()}).data)


class ItemsRoute(IntoProject, Listing):
    """Pages of work, with how many answered and skipped each. POST adds content to the data set, a line of Assay's
    content format each (docs/formats.md), and makes the items of it; a key that is there already is not added again."""

    format = CONTENT.slug
    shape = shapes.ItemShape
    filters = {
        "state": QueryFilter("state", Item.State.values),
        "key": QueryFilter("key"),
        "is_multiple": QueryFilter("is_multiple", kind=TRUTH),
    }

    def rows(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER, ADJUDICATOR)
        self.with_key = access.sees_keys(request.user, project)
        items = project.items.all()
        # Who labels here is not shown which items are checks.
        return items.exclude(state=Item.State.APART) if access.has_open_work(request.user, project) else items

    def filters_for(self, request):
        return {name: one for name, one in self.filters.items() if self.with_key or name != "key"}

    def prepared(self, page: list) -> list:
        states = Assignment.State
        counts = (
            Assignment.objects.filter(item__in=[item.pk for item in page])
            .order_by()
            .values("item_id")
            .annotate(done=Count("pk", Q(state=states.DONE)), skipped=Count("pk", Q(state=states.SKIPPED)))
        )
        by_item = {row["item_id"]: row for row in counts}
        for item in page:
            row = by_item.get(item.pk, {"done": 0, "skipped": 0})
            item.done, item.skipped = row["done"], row["skipped"]
        return page

    def shown_with(self, request) -> dict:
        return {"with_key": self.with_key}


class ReservedItemsRoute(Route):
    """For whom items are. POST gives items a rule in place of the one that they have; all fields empty: anybody's."""

    request_shape, response_shape = shapes.NewReservation, shapes.ReservationShape

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        body = self.validated_body(request)
        try:
            rule = reserving.rule_of(project, body["people"], body["without"], body["groups"])
            rules = reserving.by_item(project, dict.fromkeys(body["items"], rule))
        except reserving.ReservingError as error:
            raise invalid(f"{error}", "items") from None
        return self.respond(reserving.apply(project, rules))


class UnitsRoute(Listing):
    """What is judged, with its texts: what a checker of your own reads before it answers."""

    shape = shapes.UnitShape
    filters = {"unit": QueryFilter("unit__key"), "item": QueryFilter("item__key")}
    order = ("item_id", "id")

    def rows(self, request, slug):
        self.project = access.project_for(request.user, slug, RESEARCHER)
        items = self.project.items.order_by("pk").values_list("pk", flat=True)
        first, last = items.first() or 0, items.last() or 0
        # The order of an index, from which conditions on other tables would lead databases away.
        shown = self.project.items.filter(pk=OuterRef("item_id")).exclude(state__in=Item.LEFT_OUT)
        current = Unit.objects.filter(pk=OuterRef("unit_id"), superseded_at=None)
        return ItemUnit.objects.filter(Exists(shown), Exists(current), item_id__gte=first, item_id__lte=last)

    def prepared(self, page: list) -> list:
        kind, ids = self.project.type, [row.unit_id for row in page]
        words = words_of(kind.unit_kind, ids)
        inputs = checker_inputs(kind, ids) if reader_of(kind) else {}
        units = dict(Unit.objects.filter(pk__in=ids).values_list("pk", "key"))
        items = dict(Item.objects.filter(pk__in=[row.item_id for row in page]).values_list("pk", "key"))
        for row in page:
            row.unit_key, row.item_key = units[row.unit_id], items[row.item_id]
            row.title, row.text = words[row.unit_id]
            row.input = inputs[row.unit_id].fields if row.unit_id in inputs else {}
        return page


class LabelRows(Listing):
    """People's labels of the project's units. Members who still label here get none."""

    def rows(self, request, slug):
        self.project = access.project_with_labels_for(request.user, slug)
        return self.of_project()

    def of_project(self) -> QuerySet:
        raise NotImplementedError

    def record_exposure(self) -> None:
        """To be called before an answer with others' labels leaves the server."""
        labels_served(self.request, self.project, API)
        if self.request.method != "HEAD":
            showing.record_exposure(self.project, self.request.user, [Shown.LABELS])


class AnnotationsRoute(LabelRows):
    """Raters' answers, in their latest revisions. Members who still label here get none."""

    shape = shapes.AnnotationShape
    filters = {
        "item": QueryFilter("item__key"),
        "rater": QueryFilter("rater__pseudonym"),
        "rater_kind": QueryFilter("rater__kind", Rater.Kind.values),
        "surplus": QueryFilter("is_surplus", kind=TRUTH),
    }

    def of_project(self):
        spans = Prefetch("spans", Span.objects.order_by("field", "start", "end", "label", "severity"))
        judgements = Judgement.objects.select_related("unit").prefetch_related(spans).order_by("id")
        latest = Revision.objects.filter(is_latest=True).prefetch_related(Prefetch("judgements", judgements))
        latest = latest.annotate(opened_at=opened_at(), answered_at=answered_at())
        # As conditions on joined tables, SQLite reads all items first to know which there are.
        shown = self.project.items.filter(pk=OuterRef("item_id")).exclude(state=Item.State.APART)
        counted = Rater.objects.filter(pk=OuterRef("rater_id"), is_excluded=False)
        return (
            Annotation.objects.filter(Exists(shown), Exists(counted))
            .select_related("item", "rater")
            .prefetch_related(Prefetch("revisions", latest, to_attr="latest"))
        )

    def prepared(self, page: list) -> list:
        several = {one.slug: one for one in self.project.type.dimensions if one.takes_several}
        for annotation in page:
            [annotation.revision] = annotation.latest
            for judgement in annotation.revision.judgements.all() if several else ():
                if judgement.dimension in several:
                    judgement.labels = several[judgement.dimension].chosen(judgement.label)
        if {annotation.rater.user_id for annotation in page} - {self.request.user.pk}:
            self.record_exposure()
        return page


class DecisionsRoute(LabelRows):
    """Labels that stand for their units, each in its newest row; with `latest=false` the earlier rows."""

    shape, request_shape = shapes.DecisionShape, shapes.NewDecision
    filters = {
        "unit": QueryFilter("unit__key"),
        "dimension": QueryFilter("dimension"),
        "method": QueryFilter("method", Decision.Method.values),
        "rule": QueryFilter("rule"),
        "latest": QueryFilter("is_latest", kind=TRUTH),
    }

    def of_project(self):
        rows = self.project.decisions.select_related("unit", "decided_by", "rule_run")
        return rows if "latest" in self.request.query_params else rows.filter(is_latest=True)

    def prepared(self, page: list) -> list:
        if page:
            self.record_exposure()
        return page

    def post(self, request, slug):
        """Decide, as an adjudicator, which label stands for a unit, or take the decision in force back."""
        project = access.project_with_labels_for(request.user, slug)
        if ADJUDICATOR not in access.roles_of(request.user, project):
            raise PermissionDenied("This needs the role of adjudicator")
        body = self.validated_body(request)
        more = {name: body[name] for name in ("reason", "for_guidelines")}
        wanted = {name: [value] for name, value in body.items() if name not in ("withdraw", "labels", "spans", *more)}
        wanted |= {"label": body["labels"]} if "labels" in body else {}
        wanted |= {"withdraw": ["1"]} if body["withdraw"] else {}
        form = DecisionForm(MultiValueDict(wanted), type=project.type)
        if not form.is_valid():
            raise invalid_form(form)
        values = form.cleaned_data
        units = Unit.objects.filter(item_units__item__project=project, key=values["unit"])
        unit = units.order_by("-version").first()
        if unit is None:
            raise invalid("The project has no such unit", "unit")
        if body["withdraw"]:
            adjudicating.withdraw(project, request.user, unit, values["dimension"], values["note"])
        else:
            label, outcome = (values["dimension"], values["label"]), values["outcome"]
            if outcome != Decision.Outcome.LABEL and body["spans"]:
                raise invalid(f"Give no highlights where the outcome is {outcome}", "spans")
            try:
                more["spans"] = spans_to_store(project, unit, *label, body["spans"])
            except InvalidSubmission as error:
                raise invalid(f"{error}", "spans") from None
            adjudicating.decide(project, request.user, unit, *label, values["note"], outcome=outcome, **more)
        rows = project.decisions.filter(unit=unit, dimension=values["dimension"], method=adjudicating.ADJUDICATED)
        found = rows.select_related("unit", "decided_by").filter(is_latest=True).first()
        if found is None:
            raise Problem(409, "There is no decision that could be withdrawn")
        return self.respond(found)


class KeysRoute(Listing):
    """Items that are set apart for training, qualification or checks, with their right answers. POST sets one apart,
    changes its key, or ends its use."""

    shape, request_shape = shapes.ItemKeyShape, shapes.NewItemKey
    filters = {"item": QueryFilter("item__key"), "purpose": QueryFilter("purpose", ItemKey.Purpose.values)}
    order = ("created_at", "item_id")

    def rows(self, request, slug):
        return self._project(request, slug).item_keys.select_related("item")

    def _project(self, request, slug) -> Project:
        project = access.project_with_labels_for(request.user, slug)
        if RESEARCHER not in access.roles_of(request.user, project):
            raise PermissionDenied("This needs the role of researcher")
        return project

    def post(self, request, slug):
        project, body = self._project(request, slug), self.validated_body(request)
        items = project.items.exclude(state=Item.State.RETIRED).filter(key=body["item"])
        item = items.filter(item_key__isnull=False).first() or items.first()  # of an item and its copy, the copy
        if item is None:
            raise invalid("The project has no such item", "item")
        try:
            if not body["remove"]:
                more = {"reason": body["reason"], "is_loud": body["loud"]}
                key = keys.set_apart(project, item, request.user, body["purpose"], body["answers"], **more)
                return self.respond(key)
        except InvalidSubmission as error:
            raise invalid(f"{error}", "answers") from None
        except keys.ApartError as error:
            raise Problem(409, str(error)) from None
        key = ItemKey.objects.filter(item=item).select_related("item").first()
        if key is None:
            raise Problem(409, "This item is not set apart")
        keys.put_back(project, item, request.user)
        return self.respond(key)


class KeyResultsRoute(Listing):
    """How people's answers to items that are set apart compare with their keys."""

    shape = shapes.KeyResultShape
    filters = {
        "rater": QueryFilter("rater__pseudonym"),
        "item": QueryFilter("item__key"),
        "purpose": QueryFilter("purpose", ItemKey.Purpose.values),
    }
    order = ("revision_id",)

    def rows(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        return KeyResult.objects.filter(rater__project=project).select_related("item", "rater")

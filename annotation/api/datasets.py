"""Data sets and their content."""

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from rest_framework.response import Response

from annotation import access
from annotation.api import shapes
from annotation.api.problems import Problem, invalid_form
from annotation.api.routes import Editing, Listing, QueryFilter, Route
from annotation.datasets.forms import DatasetForm
from annotation.datasets.kinds import KIND_NAMED, PIECE_SET, to_json
from annotation.datasets.managing import update_dataset
from annotation.jobs import counts
from annotation.models import Dataset


def _editable(user, datasets: list[Dataset]) -> set[int]:
    found = access.editable_datasets(user).filter(pk__in=[one.pk for one in datasets])
    return set(found.values_list("pk", flat=True))


class DatasetsRoute(Listing):
    """The data sets that you may make projects of."""

    shape, request_shape, status = shapes.DatasetShape, shapes.NewDataset, 201
    filters = {"slug": QueryFilter("slug")}

    def rows(self, request) -> QuerySet:
        return access.visible_datasets(request.user)

    def prepared(self, page: list) -> list:
        self.editable = _editable(self.request.user, page)
        return page

    def shown_with(self, request) -> dict:
        return {"editable": self.editable}

    def post(self, request):
        """A new data set, without content."""
        if not access.may_create(request.user):
            raise PermissionDenied("Your account may not create data sets; ask a site administrator")
        form = DatasetForm(self.validated_body(request))
        if not form.is_valid():
            raise invalid_form(form)
        form.instance.owner = request.user
        dataset = form.save()
        shown = self.shape(dataset, context={"editable": {dataset.pk}}).data
        return Response(shown, status=201, headers={"Location": f"{request.path}{dataset.slug}/"})


class DatasetDetailRoute(Editing, Route):
    """One data set, with how much of each kind of content it has. POST changes its title or description; the slug
    stays."""

    shape, request_shape = shapes.DatasetDetailShape, shapes.DatasetSettings

    def version_of(self, dataset):
        return [dataset.title, dataset.description, dataset.content, dataset.sets]

    def get(self, request, slug):
        return self._shown(request, access.dataset_for(request.user, slug))

    def post(self, request, slug):
        dataset, named = access.dataset_for(request.user, slug, edit=True), self.validated_body(request)
        self._count(dataset)
        with self.edited(dataset):
            update_dataset(dataset, request.user, **named)
        return self._shown(request, dataset)

    def _count(self, dataset: Dataset) -> None:
        counted = counts.counted("content", dataset)
        by_kind, dataset.counted_at = counted.values or {}, counted.counted_at
        dataset.content = {name: sum(sets.values()) for name, sets in by_kind.items()}
        dataset.sets = {name: sets for name, sets in by_kind.items() if any(sets)}

    def _shown(self, request, dataset: Dataset) -> Response:
        self._count(dataset)
        shown = self.shape(dataset, context={"editable": _editable(request.user, [dataset])}).data
        return self.tagged(Response(shown), dataset)


GOLD = ("is_gold", "verdict", "answers")  # columns that tell who labels what is right


class ContentRoute(Listing):
    """Rows of one kind of content, in their newest version; without gold labels while you label on the data set."""

    shape = shapes.ContentShape
    filters = {"key": QueryFilter("key"), "piece_set": QueryFilter("piece_set")}
    needs = {"kind": tuple(KIND_NAMED)}

    def rows(self, request, slug):
        self.dataset = dataset = access.dataset_for(request.user, slug)
        self.kind = KIND_NAMED[self.needed("kind")]
        rows = self.kind.model.objects.published().filter(dataset=dataset)
        if PIECE_SET in request.query_params and not self.kind.has_sets:
            raise Problem(400, f"piece_set: a {self.kind.name} belongs to no set")
        return rows.select_related(*self.kind.parents)

    def prepared(self, page: list) -> list:
        columns, parents = self.kind.columns, self.kind.parents
        if access.labels_content_of(self.request.user, self.dataset):
            columns = tuple(name for name in columns if name not in GOLD)
        for row in page:
            row.kind = self.kind.name
            row.columns = to_json(columns, tuple(getattr(row, name) for name in columns))
            found = {name: getattr(row, name) for name in parents}
            row.parents = {name: parent and parent.key for name, parent in found.items()}
        return page

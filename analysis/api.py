"""The part of the API that gives figures: reports as they are stored, and releases."""

from django.http import Http404
from django.urls import path, reverse
from rest_framework import serializers as s
from rest_framework.response import Response

from analysis.figures.tabular import named
from analysis.models import StoredReport
from analysis.pages.asked import Asked
from analysis.pages.progress import project_for_lead
from analysis.pages.releases.forms import FILTERS, VERSION
from analysis.pages.releases.own import projects_beside, release_for
from analysis.pages.stored import figures_served
from analysis.progress import people
from analysis.releases.hub.asking import HubError, check_repository, files_to_send, start_publishing
from analysis.releases.kept import (
    FreezingProblem,
    close_public_page,
    comparison_job,
    public_jobs,
    releases_of,
    start_comparing,
    start_freezing,
    start_public_page,
    withdraw,
)
from analysis.reports import stored
from analysis.reports.metrics import REPORTS
from analysis.reports.options import KINDS
from analysis.rules.asking import start_rule
from analysis.rules.kinds import KINDS as RULES
from analysis.rules.kinds import RuleError
from analysis.scopes import scope_of
from analysis.sources.project import ProjectOutline
from analysis.sources.releases.archives import archive_of
from analysis.sources.wrong import WrongChoice
from annotation.access import project_with_labels_for
from annotation.addresses import absolute
from annotation.api.problems import Problem, invalid
from annotation.api.routes import Listing, QueryFilter, Route
from annotation.api.shapes import Choice, JobShape, Shape
from annotation.exports.releasing import sets_for
from annotation.exports.views import serve_file
from annotation.models import Job, RuleRun
from annotation.work.label_access import API, labels_served

FRESH, COMPUTING, STALE, FAILED = STATES = ("fresh", "computing", "stale", "failed")


class ReportOptionShape(Shape):
    name = s.CharField()
    title = s.CharField()
    kind = s.ChoiceField(KINDS)
    help = s.CharField(allow_blank=True)


class ReportKindShape(Shape):
    """A report that there is; `why_not` says why this project has none, where it has none."""

    name = s.CharField()
    title = s.CharField()
    why_not = s.CharField(allow_blank=True)
    options = ReportOptionShape(many=True)


class ReportsShape(Shape):
    results = ReportKindShape(many=True)


class ReportTableShape(Shape):
    """People stand in it by their pseudonyms; an interval that there is none of as the reason."""

    name = s.CharField()
    title = s.CharField()
    columns = s.ListField(child=s.CharField())
    rows = s.ListField(child=s.ListField())
    note = s.CharField(allow_blank=True)


class ReportShape(Shape):
    """`result` is what `manage.py report --format json` prints; it and `tables` are empty before the first computation.
    `is_partial`: intervals and tests are still being computed."""

    report = s.CharField(source="name")
    parameters = s.DictField()
    scope = s.DictField()
    state = s.ChoiceField(STATES)
    message = s.CharField(allow_blank=True)
    job = s.UUIDField(source="job.uuid", allow_null=True, default=None)
    is_partial = s.BooleanField()
    computed_at = s.DateTimeField(allow_null=True)
    result = s.DictField()
    tables = ReportTableShape(many=True)


class ReleaseShape(Shape):
    """`withdrawal` says why a withdrawn release must not be used any more; `withdrawn_at` is null of others."""

    uuid = s.UUIDField()
    number = s.IntegerField()
    version = s.CharField(allow_blank=True)
    note = s.CharField(allow_blank=True)
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    job = s.UUIDField(source="job.uuid")
    sha256 = s.CharField(allow_blank=True)
    labels_sha256 = s.CharField(allow_blank=True)
    moment = s.DateTimeField(allow_null=True)
    created_at = s.DateTimeField()
    withdrawn_at = s.DateTimeField(allow_null=True)
    withdrawal = s.CharField(allow_blank=True)


class ReleaseDetailShape(ReleaseShape):
    manifest = s.DictField()


class NewRelease(Shape):
    note = s.CharField(max_length=2000, allow_blank=True, default="")
    version = s.RegexField(VERSION, max_length=40, allow_blank=True, default="")

    projects = s.ListField(child=s.SlugField(), default=list, max_length=50)
    decisions = s.CharField(max_length=60, allow_blank=True, default="")
    filters = s.DictField(child=s.CharField(max_length=300), default=dict)


class Withdrawal(Shape):
    reason = s.CharField(max_length=2000)


class NewPublicPage(Shape):
    """`is_public` false closes the page; `with_comments` puts comments, notes and reasons into its download."""

    is_public = s.BooleanField(default=True)
    with_comments = s.BooleanField(default=False)


class PublicPageShape(Shape):
    """`address` is where anybody reads the release, empty while nobody does; `job` makes the files of the page."""

    address = s.CharField(allow_blank=True)
    state = Choice(Job.State.choices, source="job.state", allow_null=True, default=None)
    message = s.CharField(source="job.message", allow_blank=True, default="")
    job = s.UUIDField(source="job.uuid", allow_null=True, default=None)


class HubRequest(Shape):
    """`token` is the hub's; without one, that which its sender keeps here. With `is_dry_run` nothing is sent."""

    repository = s.CharField(max_length=200)
    token = s.CharField(max_length=200, allow_blank=True, default="", write_only=True)
    is_private = s.BooleanField(default=True)
    is_update = s.BooleanField(default=False)
    with_comments = s.BooleanField(default=False)
    is_dry_run = s.BooleanField(default=False)


class SentFileShape(Shape):
    """`bytes` is null of what is written on the way; `without`: comments, notes and reasons are left out of it."""

    name = s.CharField()
    bytes = s.IntegerField(allow_null=True)
    without = s.BooleanField()


class HubPublicationShape(Shape):
    """`address` is the hub's of what was sent; `files` those of a dry run."""

    repository = s.CharField()
    state = Choice(Job.State.choices, source="job.state", allow_null=True, default=None)
    message = s.CharField(source="job.message", allow_blank=True, default="")
    job = s.UUIDField(source="job.uuid", allow_null=True, default=None)
    address = s.CharField(allow_blank=True, default="")
    files = SentFileShape(many=True, default=list)


class HubPublicationsShape(Shape):
    results = HubPublicationShape(many=True)


class ChangesShape(Shape):
    """`result` is what `manage.py release --compare BEFORE AFTER --json` prints, its lists cut to 100; empty before the
    job is done."""

    state = Choice(Job.State.choices)
    message = s.CharField(allow_blank=True)
    job = s.UUIDField(source="uuid")
    result = s.DictField()


class RuleQuestionShape(Shape):
    """How many units the rule decided, by label, and what it left open and why."""

    question = s.CharField()
    units = s.IntegerField()
    decided = s.IntegerField()
    dropped = s.IntegerField()
    undecided = s.IntegerField()
    labels = s.DictField(child=s.IntegerField())
    open = s.DictField(child=s.IntegerField())
    new = s.IntegerField()
    withdrawn = s.IntegerField()
    unchanged = s.IntegerField()
    agreement = s.DictField()


class RuleRunShape(Shape):
    """One run of a rule; the newest one of a name is in force. A rule that came with a file has no kind."""

    name = s.CharField()
    version = s.IntegerField()
    kind = s.CharField(allow_blank=True)
    parameters = s.DictField()
    questions = RuleQuestionShape(many=True, source="counts.questions", default=list)
    created_at = s.DateTimeField()


class NewRule(Shape):
    """`parameters` are those of `manage.py rule`; a name that is known runs again with the same ones."""

    name = s.CharField(max_length=40)
    kind = s.ChoiceField(sorted(RULES))
    parameters = s.DictField(default=dict)
    preview = s.BooleanField(default=False)


class PersonShape(Shape):
    """Of one person, by pseudonym. Shares are [cases, of how many]; `checks`, `others`, `decided`, `followed`
    (suggestions in view) and `needs_a_look` are only for readers who may see labels."""

    person = s.CharField(source="pseudonym")
    group = s.CharField(allow_blank=True)
    items = s.IntegerField(source="figures.items")
    median_seconds = s.FloatField(source="figures.median", allow_null=True)
    seconds_worked = s.IntegerField(source="figures.seconds")
    skips = s.IntegerField(source="figures.skips")
    flags = s.IntegerField(source="figures.flags")
    comments = s.IntegerField(source="figures.comments")
    last_seen = s.DateTimeField(source="last_at", allow_null=True)
    checks = s.ListField(child=s.IntegerField(), source="figures.checks", required=False)
    others = s.ListField(child=s.FloatField(), source="figures.others", required=False)
    decided = s.ListField(child=s.FloatField(), source="figures.decided", required=False)
    followed = s.ListField(child=s.FloatField(), source="figures.followed", required=False)
    needs_a_look = s.ListField(child=s.CharField(), source="reasons", required=False)

    def left_out(self, found):
        return () if self.context["shows_labels"] else ("checks", "others", "decided", "followed", "needs_a_look")


class ProgressShape(Shape):
    """`counted_at` is null where it is counted at this moment; `is_waiting`: a worker counts, and all is empty.
    `end` is null where `why_no_end` says why; `end_last` is null where no last day can be named."""

    is_waiting = s.BooleanField(source="counted.is_waiting")
    counted_at = s.DateTimeField(source="counted.counted_at", allow_null=True)
    done = s.IntegerField()
    remaining = s.IntegerField(source="pace.remaining")
    items = s.DictField(child=s.IntegerField())
    answers_per_day = s.FloatField(source="pace.per_day")
    answers_per_hour = s.FloatField(source="per_hour", allow_null=True)
    end = s.DateField(source="pace.end", allow_null=True)
    end_first = s.DateField(source="pace.first", allow_null=True)
    end_last = s.DateField(source="pace.last", allow_null=True)
    why_no_end = s.CharField(source="pace.why_not", allow_blank=True)
    people = PersonShape(many=True)


class ProgressRoute(Route):
    """How far the project and its people are, as on its page of progress."""

    shape = ProgressShape

    def get(self, request, slug):
        project, shows_labels = project_for_lead(request, slug, API)
        counted = people.counted_people(project)
        found = people.progress_of(project, counted)
        found.people = people.people_of(project, counted)
        return Response(self.shape(found, context={"shows_labels": shows_labels}).data)


class RulesRoute(Listing):
    """Runs of the project's rules. `manage.py rule` and docs/decisions.md say what kinds there are."""

    shape, request_shape, response_shape, status = RuleRunShape, NewRule, JobShape, 202
    filters = {"name": QueryFilter("name"), "kind": QueryFilter("kind")}

    def rows(self, request, slug):
        self.project = project_with_labels_for(request.user, slug)
        return RuleRun.objects.filter(project=self.project).defer("left_open")

    def prepared(self, page: list) -> list:
        if page:
            labels_served(self.request, self.project, API)
        return page

    def post(self, request, slug):
        """Run a rule, or with `preview` say what it would decide: GET of the job gives what came of it."""
        project = project_with_labels_for(request.user, slug)
        body = self.validated_body(request)
        try:
            job = start_rule(
                project, request.user, body["name"], body["kind"], body["parameters"], is_preview=body["preview"]
            )
        except RuleError as error:
            raise invalid(str(error), error.parameter or "kind") from None
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")


class ReportsRoute(Route):
    """What can be asked of a project's labels, and with which options."""

    shape = ReportsShape

    def get(self, request, slug):
        project = project_with_labels_for(request.user, slug)
        kinds = [
            {"name": one.name, "title": one.title, "why_not": one.fits(project.type), "options": one.options}
            for one in REPORTS.values()
        ]
        return Response(self.shape({"results": kinds}).data)


class ReportDetailRoute(Route):
    """One report. Its options, and which labels it is made of, stand in the address, as on its page."""

    shape, status, is_done_at_once = ReportShape, 202, True
    keeps_answers = False  # a repeated request gets the report as it is by then, and starts nothing twice

    def get(self, request, slug, name):
        """As it was last computed; 404 where it never was."""
        project, values, scope = self._asked(request, slug, name)
        reports = StoredReport.objects.select_related("job", "project").defer("behind")
        digest = stored.parameters_hash(project, name, values, scope)
        report = reports.filter(project=project, name=name, parameters_hash=digest, computed_at__isnull=False).first()
        if report is None:
            raise Problem(404, "The report has not been computed with these options; POST to this address computes it")
        return self._shown(report)

    def post(self, request, slug, name):
        """Have it computed where labels have changed since it last was: 202 while that takes, 200 where it is fresh."""
        project, values, scope = self._asked(request, slug, name)
        report = stored.stored_report(project, name, values, request.user, scope)
        is_late = report.was_stale and not stored.is_refreshing(report)
        if is_late and not stored.has_room_for_reports(request.user):
            raise Problem(429, "You have as many unfinished reports as one person may have; wait for some of them")
        return self._shown(report, 202 if stored.is_refreshing(report) else 200)

    def _asked(self, request, slug: str, name: str) -> tuple:
        project = project_with_labels_for(request.user, slug)
        kind = REPORTS.get(name)
        if kind is None:
            raise Http404("There is no such report")
        asked = Asked(request, project, name)
        source = ProjectOutline(project, request.user)
        if reason := kind.fits(project.type) or kind.missing_run(source):
            raise Problem(409, reason)
        try:
            values = {option.name: asked.value(option, source) for option in kind.options}
            values = kind.resolve_options(source, values)
        except ValueError as error:
            raise Problem(409, str(error)) from None
        if asked.problems:
            errors = [{"field": field, "message": "; ".join(asked.problems)} for field in sorted(asked.wrong)]
            raise Problem(400, "; ".join(asked.problems), errors=errors)
        for other in kind.sibling_slugs(values):
            project_with_labels_for(request.user, other)
        return project, values, asked.scope

    def _shown(self, report: StoredReport, status: int = 200) -> Response:
        report.message = stored.failed(report)
        report.state = (
            COMPUTING
            if stored.is_refreshing(report)
            else FRESH
            if not stored.is_stale(report)
            else FAILED
            if report.message
            else STALE
        )
        tables = REPORTS[report.name].tables(report.result) if report.result else []
        report.tables = [
            {"name": name, "title": one.title, "columns": one.columns, "rows": one.rows, "note": one.below}
            for name, one in named([table.plain() for table in tables]).items()
        ]
        if report.result:
            figures_served(self.request, report, API)
        return Response(self.shape(report).data, status=status)


class ReleasesRoute(Listing):
    """Labels of one moment, frozen as files."""

    shape, request_shape, status = ReleaseShape, NewRelease, 202

    def rows(self, request, slug):
        project = project_with_labels_for(request.user, slug)
        return releases_of(project, request.user).filter(project=project).select_related("job")

    def post(self, request, slug):
        """Freeze the project's labels, when a worker comes to it."""
        project = project_with_labels_for(request.user, slug)
        body = self.validated_body(request)
        try:
            siblings = projects_beside(request.user, project).filter(slug__in=body["projects"])
            others = [project_with_labels_for(request.user, one.slug) for one in siblings]
            if unknown := sorted({*body["projects"]} - {one.slug for one in others}):
                words = f"there is no other project {', '.join(unknown)} on the data set whose labels you see"
                raise Problem(422, words, errors=[{"field": "projects", "message": words}])
            filters = self._filters(project, body["filters"])
            if body["decisions"] not in (known := dict(sets_for(project))):
                words = f"decisions is one of {', '.join(filter(None, known))}, or empty"
                raise Problem(422, words, errors=[{"field": "decisions", "message": words}])
            named = (body["note"], body["version"])
            release = start_freezing(project, request.user, *named, others, filters, body["decisions"])
        except FreezingProblem as error:
            raise Problem(409, str(error)) from None
        return self.respond(release, Location=f"{request.path}{release.number}/")

    def _filters(self, project, filters: dict[str, str]) -> dict[str, str]:
        """Conditions as reports have them, by the same names."""
        if unknown := sorted({*filters} - {*FILTERS}):
            words = f"there is no filter {', '.join(unknown)}; there are {', '.join(FILTERS)}"
            raise Problem(422, words, errors=[{"field": "filters", "message": words}])
        try:
            return scope_of(project, filters).get("selection", {})
        except WrongChoice as error:
            raise Problem(422, str(error), errors=[{"field": "filters", "message": str(error)}]) from None


class ReleaseDetailRoute(Route):
    """One release, with its manifest once it is done."""

    shape = ReleaseDetailShape

    def get(self, request, slug, number):
        return Response(self.shape(release_for(request.user, slug, number)).data)


class ReleaseWithdrawRoute(Route):
    """Say that a release is not to be used any more. Its files stay, and the first reason stands."""

    shape, request_shape = ReleaseDetailShape, Withdrawal

    def post(self, request, slug, number):
        release = release_for(request.user, slug, number, as_researcher=True)
        reason = self.validated_body(request)["reason"]
        if not release.is_ready:
            raise Problem(409, "The release is not frozen; cancel its job")
        withdraw(release, request.user, reason)
        return Response(self.shape(release).data)


class ReleasePublicRoute(Route):
    """Whether anybody may read the release without an account."""

    shape, request_shape, status, is_done_at_once = PublicPageShape, NewPublicPage, 202, True

    def get(self, request, slug, number):
        return Response(self._shown(request, release_for(request.user, slug, number)))

    def post(self, request, slug, number):
        """Open the page, once a worker has made its files, or close it."""
        release = release_for(request.user, slug, number, as_researcher=True)
        body = self.validated_body(request)
        if not body["is_public"]:
            close_public_page(release)
            release.refresh_from_db()
            return Response(self._shown(request, release), status=200)
        if not release.is_ready:
            raise Problem(409, "The release is not frozen")
        start_public_page(release, request.user, body["with_comments"])
        return Response(self._shown(request, release), status=202)

    def _shown(self, request, release) -> dict:
        page = absolute(request, reverse("public_release", args=[release.uuid]))
        found = {"address": page if release.is_public else "", "job": public_jobs(release).first()}
        return self.shape({name: value for name, value in found.items() if value is not None}).data


class ReleaseHubRoute(Route):
    """The release in repositories of a hub, and sending it there."""

    shape, request_shape, response_shape, status = HubPublicationsShape, HubRequest, HubPublicationShape, 202
    is_done_at_once = True

    def get(self, request, slug, number):
        release = release_for(request.user, slug, number, as_researcher=True)
        return Response(self.shape({"results": release.publications.select_related("job").order_by("-pk")[:100]}).data)

    def post(self, request, slug, number):
        """Send it, when a worker comes to it; 200 with the files for a dry run."""
        release = release_for(request.user, slug, number, as_researcher=True)
        body = self.validated_body(request)
        names = ("is_private", "is_update", "with_comments")
        try:
            if body["is_dry_run"]:
                repository = check_repository(body["repository"])
                found = {"repository": repository, "files": files_to_send(release, body["with_comments"])}
                return Response(self.response_shape(found).data, status=200)
            chosen = {name: body[name] for name in names}
            return self.respond(start_publishing(release, request.user, body["repository"], body["token"], **chosen))
        except HubError as error:
            errors = [{"field": error.field, "message": str(error)}] if error.field else []
            raise Problem(422 if error.field else 409, str(error), errors=errors) from None


class ReleaseChangesRoute(Route):
    """What changed between two releases of the project: texts, units, labels, agreement."""

    shape, status, is_done_at_once = ChangesShape, 202, True

    def get(self, request, slug, number, before):
        """As far as the comparison is; 404 where nobody asked for it."""
        job = comparison_job(*self._two(request, slug, number, before))
        if job is None:
            raise Problem(404, "The two were not compared yet; POST to this address does")
        return self._shown(request, job)

    def post(self, request, slug, number, before):
        """Have the two compared: 202 while that takes, 200 where it is done."""
        project, earlier, after = self._two(request, slug, number, before)
        job = start_comparing(project, request.user, earlier, after)
        return self._shown(request, job, 200 if job.state == Job.State.DONE else 202)

    def _two(self, request, slug, number, before):
        after, earlier = (release_for(request.user, slug, one) for one in (number, before))
        if not (after.is_ready and earlier.is_ready) or after == earlier:
            raise Problem(409, "Name two releases that are frozen")
        return after.project, earlier, after

    def _shown(self, request, job: Job, status: int = 200) -> Response:
        if job.state == Job.State.DONE:
            labels_served(request, job.project, API)
        else:
            job.result = {}
        return Response(self.shape(job).data, status=status)


class ReleaseFileRoute(Route):
    """The release's files in one zip; an interrupted download goes on by Range."""

    answers_with = "application/zip"

    def get(self, request, slug, number):
        release = release_for(request.user, slug, number)
        archive = archive_of(release.job)
        if archive is None:
            raise Problem(409, f"The release is {release.job.state}: it has no files")
        return serve_file(request, archive)


urlpatterns = [
    path("projects/<slug:slug>/progress/", ProgressRoute.as_view(), name="api_progress"),
    path("projects/<slug:slug>/rules/", RulesRoute.as_view(), name="api_rules"),
    path("projects/<slug:slug>/reports/", ReportsRoute.as_view(), name="api_reports"),
    path("projects/<slug:slug>/reports/<slug:name>/", ReportDetailRoute.as_view(), name="api_report"),
    path("projects/<slug:slug>/releases/", ReleasesRoute.as_view(), name="api_releases"),
    path("projects/<slug:slug>/releases/<int:number>/", ReleaseDetailRoute.as_view(), name="api_release"),
    path(
        "projects/<slug:slug>/releases/<int:number>/withdraw/",
        ReleaseWithdrawRoute.as_view(),
        name="api_release_withdraw",
    ),
    path(
        "projects/<slug:slug>/releases/<int:number>/public/",
        ReleasePublicRoute.as_view(),
        name="api_release_public",
    ),
    path("projects/<slug:slug>/releases/<int:number>/hub/", ReleaseHubRoute.as_view(), name="api_release_hub"),
    path(
        "projects/<slug:slug>/releases/<int:number>/changes/<int:before>/",
        ReleaseChangesRoute.as_view(),
        name="api_release_changes",
    ),
    path("projects/<slug:slug>/releases/<int:number>/file/", ReleaseFileRoute.as_view(), name="api_release_file"),
]

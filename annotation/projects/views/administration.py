"""Pages of the site's administrators: accounts, what can be done with one, inviting many, and the site's address."""

from functools import wraps
from urllib.parse import urlencode

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from annotation import addresses
from annotation.models import SettingsChange, User
from annotation.projects import invitations
from annotation.projects.accounts import managing, pasted, queries
from annotation.projects.accounts.actions import ACTIONS
from annotation.projects.forms.administration import AddressForm, InviteManyForm
from annotation.projects.views.accounts import limit_invitations, plan_and_invite

CHANGES = 50


def for_administrators(view):
    @wraps(view)
    def checked(request, *args, **kwargs):
        if not request.user.is_superuser:
            raise PermissionDenied("This needs a site administrator")
        return view(request, *args, **kwargs)

    return login_required(checked)


@for_administrators
@require_safe
def account_list(request):
    asked = {name: request.GET.get(name, "") for name in ("search", "state", "sort")}
    rows = queries.account_rows(asked["search"], asked["state"], asked["sort"])
    page = Paginator(rows, queries.ROWS).get_page(request.GET.get("page"))
    kept = {name: value for name, value in asked.items() if value}
    columns = [(column, *_sorting(slug, asked["sort"] or "person", kept)) for slug, column in queries.COLUMNS.items()]
    context = {
        "page": page,
        "query": urlencode(kept),
        "columns": columns,
        "states": [(slug, title) for slug, (title, _) in queries.STATES.items()],
        **asked,
    }
    return render(request, "annotation/accounts/administration/list.html", context)


def _sorting(slug: str, sort: str, kept: dict[str, str]) -> tuple[str, str]:
    """The query that sorts by the column, or turns its order, and the value of aria-sort."""
    is_turned = sort == slug
    order = {slug: "ascending", f"-{slug}": "descending"}.get(sort, "")
    return urlencode(kept | {"sort": f"-{slug}" if is_turned else slug}), order


@for_administrators
@require_safe
def account_detail(request, uuid):
    account = get_object_or_404(User, uuid=uuid)
    changes = account.account_changes.select_related("user").order_by("-pk")[:CHANGES]
    context = {
        "account": account,
        "rights": managing.RIGHTS[managing.rights_of(account)],
        "has_second_factor": Authenticator.objects.filter(user=account, type=Authenticator.Type.TOTP).exists(),
        "projects": queries.own_projects(account),
        "datasets": queries.own_datasets(account),
        "actions": [(slug, action) for slug, action in ACTIONS.items() if action.fits(account)],
        "rows": _as_rows(changes),
    }
    return render(request, "annotation/accounts/administration/detail.html", context)


def _as_rows(changes) -> list[tuple[SettingsChange, list]]:
    return [(one, [(name.capitalize(), *values) for name, values in one.changes.items()]) for one in changes]


@for_administrators
@require_http_methods(["GET", "HEAD", "POST"])
def account_action(request, uuid, action):
    """The question, and what was asked for."""
    account, found = get_object_or_404(User, uuid=uuid), ACTIONS.get(action)
    if found is None:
        raise Http404("There is no such action")
    initial = {"rights": managing.rights_of(account)}
    form = found.form(request.POST if request.method == "POST" else None, initial=initial)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            messages.success(request, found.apply(request.user, account, **form.cleaned_data))
            return redirect("account_detail", account.uuid)
        except managing.AccountError as error:
            form.add_error(None, str(error))
            status = 409
    context = {"account": account, "action": found, "form": form, "projects": queries.own_projects(account)}
    return render(request, "annotation/accounts/administration/action.html", context, status=status)


@for_administrators
@require_safe
def account_history(request):
    changes = SettingsChange.objects.filter(account__isnull=False).select_related("user").order_by("-pk")
    page = Paginator(changes, CHANGES).get_page(request.GET.get("page"))
    return render(
        request, "annotation/accounts/administration/history.html", {"page": page, "rows": _as_rows(page.object_list)}
    )


@for_administrators
@require_http_methods(["GET", "HEAD", "POST"])
@limit_invitations
def accounts_invite(request):
    """What would happen with each address first; then, if it is asked for, the invitations of those that are right."""
    bound = (request.POST, request.FILES) if request.method == "POST" else ()
    form = InviteManyForm(*bound)
    context = {"form": form, "most": pasted.MOST}
    if request.method == "POST" and form.is_valid():
        planned, made = plan_and_invite(request, form, form.cleaned_data["project"])
        if made:
            _announce(request, made)
            return redirect("site_invitations")
        context |= planned
    return render(request, "annotation/accounts/administration/invite.html", context)


def _announce(request, made) -> None:
    unsent = invitations.send_all(
        made, lambda one: addresses.absolute(request, invitations.path_of(one, way=invitations.MAIL))
    )
    if sent := len(made) - len(unsent):
        messages.success(request, f"{sent} invitation{'s were' if sent > 1 else ' was'} sent")
    if unsent:
        messages.warning(request, f"No mail was sent to {len(unsent)} of those invited; pass on their links")


@for_administrators
@require_http_methods(["GET", "HEAD", "POST"])
def site_address(request):
    site, offered = addresses.site_of(request), addresses.candidates(request)
    first = site.address if site.is_for_others or not offered else offered[0]
    form = AddressForm(request.POST if request.method == "POST" else None, initial={"address": first})
    if request.method == "POST" and form.is_valid():
        address = form.cleaned_data["address"]
        if form.cleaned_data["anyway"] or addresses.answers(address):
            addresses.choose_address(request.user, address)
            messages.success(request, f"Links begin with {address} now")
            return redirect("site_address")
        form.add_error(
            "address",
            f"Assay does not answer at {address} within {addresses.ANSWER_SECONDS} seconds. Check the name, the port "
            "and the firewall (docs/share.md)",
        )
    context = {"form": form, "site": site, "candidates": offered, "is_demo": settings.DEMO}
    return render(request, "site/address.html", context)


urlpatterns = [
    path("administration/address/", site_address, name="site_address"),
    path("administration/accounts/", account_list, name="account_list"),
    path("administration/accounts/invite/", accounts_invite, name="accounts_invite"),
    path("administration/accounts/history/", account_history, name="account_history"),
    path("administration/accounts/<uuid:uuid>/", account_detail, name="account_detail"),
    path("administration/accounts/<uuid:uuid>/<slug:action>/", account_action, name="account_action"),
]

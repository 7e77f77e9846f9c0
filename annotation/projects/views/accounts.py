"""Pages around accounts: invitations, and one's own account."""

from allauth.core.internal.ratelimit import consume
from allauth.decorators import rate_limit
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.addresses import absolute
from annotation.editing import locked
from annotation.models import ApiToken, Invitation, Project, User
from annotation.projects import invitations, tokens
from annotation.projects.accounts import inviting, password_links, pasted
from annotation.projects.forms.accounts import (
    KeysForm,
    NameForm,
    NewAccountForm,
    ResetLinkForm,
    SiteInvitationForm,
    TokenForm,
)

# Invitations send mail, so there is a limit.
limit_invitations = rate_limit(action="invite")
# Accounts made here are signed in at once; allauth's backend is the only one.
BACKEND = settings.AUTHENTICATION_BACKENDS[0]
SENT, MOST_NAMED = "Invitation sent to {}", 5


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request):
    form = NameForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved"))
        return redirect("account")
    return render(request, "annotation/accounts/account.html", {"form": form})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_keys(request):
    """One's own keys of the labelling page and the page of adjudicators."""
    person = User.objects.get(pk=request.user.pk)
    projects = Project.objects.filter(memberships__user=person, memberships__is_active=True).distinct()
    kinds = [project.type for project in projects]
    is_reset = "reset" in request.POST
    with locked(person, request.method == "POST"):
        form = KeysForm(
            request.POST if request.method == "POST" and not is_reset else None, account=person, kinds=kinds
        )
        if request.method == "POST" and (is_reset or form.is_valid()):
            person.own_keys = {} if is_reset else form.own_keys
            person.save(update_fields=["own_keys"])
            messages.success(request, _("Saved. A page that is open has them when you reload it"))
            return redirect("account_keys")
    return render(request, "annotation/accounts/keys.html", {"form": form}, status=409 if form.has_conflict else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_tokens(request):
    """One's own tokens. A new one stands on the page that answers the form, and nowhere else."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    made, text = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            made, text = tokens.make_token(request.user, **form.cleaned_data)
            form = TokenForm()
        except tokens.TokenError as error:
            form.add_error(None, str(error))
    page = Paginator(ApiToken.objects.filter(user=request.user).order_by("-pk"), 50).get_page(request.GET.get("page"))
    context = {"form": form, "made": made, "text": text, "page": page, "now": timezone.now()}
    return render(request, "annotation/accounts/tokens.html", context)


@login_required
@require_POST
def revoke_token(request, uuid):
    token = get_object_or_404(ApiToken, uuid=uuid, user=request.user)
    tokens.revoke(token)
    messages.success(request, f"The token “{token.name}” no longer works")
    return redirect("account_tokens")


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request, token):
    row = Invitation.objects.select_related("project", "invited_by").filter(token=token).first()
    if row is None:
        # Only what fails counts: a class joins from one address.
        if not consume(request, app="allauth.account", action="accept_invitation", limit_get=True):
            return render(request, "429.html", status=429)
        raise Http404("No such invitation")
    context = {"invitation": row, "problem": invitations.obstacle(row)}
    if context["problem"]:
        if request.method == "POST" and request.user.is_authenticated and row.accepted_by_id == request.user.pk:
            return _welcome(request, row)  # a second click
        return render(request, "annotation/accounts/invitation.html", context, status=410)
    if request.user.is_authenticated:
        return _join(request, row, context)
    if invitations.account_for(row) is not None:
        return redirect_to_login(request.get_full_path())
    way = invitations.way_of(row, request.GET.get("key", ""))
    if invitations.needs_key(row) and not way:
        if invitations.has_mail_server():
            context["problem"] = _("Open the link in the mail to {email} to create the account").format(email=row.email)
        else:
            context["problem"] = _("Ask an administrator for the link that creates the account of {email}").format(
                email=row.email
            )
        return render(request, "annotation/accounts/invitation.html", context, status=403)
    form = NewAccountForm(request.POST or None, email=row.email)
    if request.method == "POST" and form.is_valid():
        try:
            user = invitations.accept_as_new(row, way, **form.cleaned_data)
        except invitations.InvitationError as error:
            return render(request, "annotation/accounts/invitation.html", context | {"problem": error}, status=410)
        login(request, user, backend=BACKEND)
        UserSession.objects.create_from_request(request)
        return _welcome(request, row)
    return render(request, "annotation/accounts/invitation.html", context | {"form": form})


def _join(request, invitation: Invitation, context: dict):
    if not invitations.is_for(invitation, request.user):
        context["problem"] = _("This invitation is for {email}, and you are signed in as {own}").format(
            email=invitation.email, own=request.user.email
        )
        return render(request, "annotation/accounts/invitation.html", context, status=403)
    if request.method == "POST":
        try:
            invitations.accept(invitation, request.user)
        except invitations.InvitationError as error:
            invitation.refresh_from_db()
            if invitation.accepted_by_id == request.user.pk:
                return _welcome(request, invitation)
            return render(request, "annotation/accounts/invitation.html", context | {"problem": error}, status=410)
        return _welcome(request, invitation)
    return render(request, "annotation/accounts/invitation.html", context)


def _welcome(request, invitation: Invitation):
    messages.success(request, _("Welcome"))
    if invitation.project is not None:
        return redirect("project_detail", invitation.project.slug)
    return redirect("home")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limit_invitations
def site_invitations(request):
    if not request.user.is_superuser:
        raise PermissionDenied("This needs a site administrator")
    form = SiteInvitationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = invitations.invite(request.user, form.cleaned_data["email"], roles=form.roles)
        announce(request, made)
        return redirect("site_invitations")
    return _invitations_page(request, form)


@login_required
@require_POST
@limit_invitations
def reset_link(request):
    """The link by which a person chooses a new password, for an administrator to pass on: it stands on this page once,
    and nowhere else."""
    if not request.user.is_superuser:
        raise PermissionDenied("This needs a site administrator")
    form = ResetLinkForm(request.POST, prefix="reset")
    made = absolute(request, password_links.path_for(form.person)) if form.is_valid() else ""
    return _invitations_page(request, SiteInvitationForm(), form, made)


def _invitations_page(request, form, reset=None, made=""):
    everything = Invitation.objects.select_related("project", "invited_by", "accepted_by").order_by("-created_at")
    page = Paginator(everything, 50).get_page(request.GET.get("page"))
    for one in page:
        one.link = link_of(request, one)
    now = timezone.now()
    # What a spreadsheet takes as two columns.
    links = "\n".join(f"{one.email}\t{one.link}" for one in page if not one.accepted_at and one.expires_at > now)
    context = {"form": form, "page": page, "now": now, "links_of_page": links}
    context |= {"reset_form": reset or ResetLinkForm(prefix="reset"), "reset_link": made}
    return render(request, "annotation/accounts/invitations.html", context)


def _own_invitation(request, token) -> Invitation:
    row = Invitation.objects.select_related("project", "invited_by").filter(token=token).first()
    if row is None or not invitations.may_invite(request.user, row.project):
        raise Http404("No such invitation")
    return row


@login_required
@require_safe
def invitation_code(request, token):
    """The link and its QR code, to show to the person."""
    row = _own_invitation(request, token)
    context = {"invitation": row, "link": link_of(request, row), "problem": invitations.obstacle(row)}
    return render(request, "annotation/accounts/code.html", context)


@login_required
@require_POST
def withdraw_invitation(request, token):
    row = _own_invitation(request, token)
    invitations.withdraw(row)
    messages.success(request, f"The invitation of {row.email} no longer works")
    if row.project is not None:
        return redirect("project_members", row.project.slug)
    return redirect("site_invitations")


def link_of(request, made: Invitation) -> str:
    """For administrators with what lets the link's holder create the account."""
    return absolute(request, invitations.path_for(request.user, made))


def plan_and_invite(request, form, project: Project | None) -> tuple[dict, list[Invitation]]:
    """What would happen with each address of the form, for the page, and the invitations where that was asked for."""
    rows = inviting.plan(form.cleaned_data["people"], project, form.invited_as)
    good, made = [row for row in rows if not row.problem], []
    if len(good) > pasted.MOST:
        form.add_error("people", f"At most {pasted.MOST} people at a time; these are {len(good)}")
    elif good and request.POST.get("do") == "invite":
        made = inviting.invite_all(request.user, good, project)
    return {"rows": rows, "good": len(good), "wrong": len(rows) - len(good)}, made


def announce(request, *invited: Invitation) -> None:
    """Send each its link and say so, or say that it has to be passed on by hand, and by whom."""
    unsent = invitations.send_all(
        invited, lambda one: absolute(request, invitations.path_of(one, way=invitations.MAIL))
    )
    emails_of: dict[str, list[str]] = {}
    for made in invited:
        if made not in unsent:
            words = SENT
        elif invitations.needs_key(made) and not request.user.is_superuser:
            words = "No email could be sent to {}; ask an administrator to pass on the link"
        else:
            words = "No email could be sent to {}; pass on the link from the list"
        emails_of.setdefault(words, []).append(made.email)
    for words, emails in emails_of.items():
        messages.add_message(
            request, messages.SUCCESS if words == SENT else messages.WARNING, words.format(in_a_sentence(emails))
        )


def in_a_sentence(emails: list[str]) -> str:
    """The first of them, and how many more."""
    more = len(emails) - MOST_NAMED
    return ", ".join(emails[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


urlpatterns = [
    path("account/", account, name="account"),
    path("account/keys/", account_keys, name="account_keys"),
    path("account/tokens/", account_tokens, name="account_tokens"),
    path("account/tokens/<uuid:uuid>/revoke/", revoke_token, name="revoke_token"),
    path("invitations/", site_invitations, name="site_invitations"),
    path("invitations/password-link/", reset_link, name="password_link"),
    path("invitations/<str:token>/", invitation, name="invitation"),
    path("invitations/<str:token>/code/", invitation_code, name="invitation_code"),
    path("invitations/<str:token>/withdraw/", withdraw_invitation, name="withdraw_invitation"),
]

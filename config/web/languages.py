"""Which pages are in their reader's language: those of annotators. Other pages, files and the API are English."""

from functools import partial

from django.conf import settings
from django.urls import path
from django.utils import translation
from django.views.decorators.http import require_POST
from django.views.i18n import LANGUAGE_QUERY_PARAMETER, set_language

from annotation.models import User

# Modules of views, and packages of them; every page of these is translated as a whole.
TRANSLATED = (
    "allauth",
    "annotation.demo.views",
    "annotation.participation.views.consent",
    "annotation.participation.views.joining",
    "annotation.participation.views.questionnaires",
    "annotation.participation.views.taking_part",
    "annotation.projects.views.accounts",
    "annotation.projects.views.home",
    "annotation.work.views.comments",
    "annotation.work.views.labelling",
    "annotation.work.views.my_work",
    "config.web.oidc",
)
# Parts of translated pages that their scripts ask for.
REQUESTS = "api_work_"
# Pages for researchers and administrators in these modules.
IN_ENGLISH = (
    "account_tokens",
    "password_link",
    "project_comments",
    "questionnaire_csv",
    "revoke_token",
    "site_invitations",
    "study_questionnaire",
    "study_questionnaires",
    "style",
    "withdraw_invitation",
    "withdraw_member",
)


def is_translated(match, view) -> bool:
    name, module = match.url_name or "", view.__module__
    if name.startswith(REQUESTS):
        return True
    return name not in IN_ENGLISH and any(f"{module}.".startswith(f"{one}.") for one in TRANSLATED)


def language_of(request) -> str:
    """The language that the person chose, and otherwise the browser's; no project has a say in it."""
    own = request.user.language if request.user.is_authenticated else ""
    return own if own in dict(settings.LANGUAGES) else translation.get_language_from_request(request)


def translate(request) -> None:
    """From here on the page is in its reader's language."""
    request.is_translated = True
    translation.activate(language_of(request))


class ReadersLanguage:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        with translation.override(settings.LANGUAGE_CODE):
            return self.get_response(request)

    def process_view(self, request, view, args, kwargs):
        request.is_translated = False
        request.translate = partial(translate, request)  # for pages that some of their readers see in English
        if is_translated(request.resolver_match, view):
            request.translate()


@require_POST
def choose_language(request):
    """For this browser and, with an account, for its mails and other browsers."""
    code = request.POST.get(LANGUAGE_QUERY_PARAMETER)
    if request.user.is_authenticated and code in dict(settings.LANGUAGES):
        User.objects.filter(pk=request.user.pk).update(language=code)
    return set_language(request)


urlpatterns = [path("language/", choose_language, name="choose_language")]

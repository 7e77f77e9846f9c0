"""What every template may ask about the site."""

from django.conf import settings
from django.utils.translation import get_language, get_language_bidi

from annotation.demo.accounts import DEMO_ACCOUNTS
from annotation.projects.invitations import are_links_passed_on, has_mail_server
from config.web.help import help_address


def site(request) -> dict:
    return {
        "language": get_language(),
        "is_right_to_left": get_language_bidi(),
        "languages": settings.LANGUAGES if getattr(request, "is_translated", False) else (),
        "is_demo": settings.DEMO,
        "help_address": help_address(request),
        "demo_accounts": DEMO_ACCOUNTS if settings.DEMO else (),
        "sign_in_providers": settings.OIDC.values(),
        "has_mail_server": has_mail_server(),
        "are_links_passed_on": are_links_passed_on(),
    }

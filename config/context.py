"""What every template may ask about the site."""

from django.conf import settings

from annotation.services.demo_accounts import DEMO_ACCOUNTS


def site(request) -> dict:
    return {"is_demo": settings.DEMO, "demo_accounts": DEMO_ACCOUNTS if settings.DEMO else ()}

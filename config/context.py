"""What every template may ask about the site."""

from django.conf import settings


def site(request) -> dict:
    return {"is_demo": settings.DEMO}

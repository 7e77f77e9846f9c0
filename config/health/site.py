"""Checks of how the site is reached and reaches others: mail, settings, and the addresses in links."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from smtplib import SMTPException

from django.conf import settings
from django.core import checks, mail
from django.core.files.storage import storages

from annotation.addresses import known_site
from annotation.incoming import is_loopback
from annotation.projects.invitations import has_mail_server
from config.health.findings import Finding, State, error, ok, warning

MAIL_SECONDS = 5
# Django's warnings about single settings that ASSAY_HTTPS sets together.
OF_HTTPS = {f"security.W{number:03}" for number in (4, 5, 8, 12, 16, 21)}


def check_mail() -> Iterator[Finding]:
    if not has_mail_server():
        yield ok(
            "No mail server: administrators pass on links of invitations and password resets from a page",
            "To send them by mail, set ASSAY_EMAIL_HOST.",
        )
        return
    place = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    try:
        with mail.get_connection(timeout=MAIL_SECONDS):
            pass
    except (OSError, SMTPException) as problem:
        yield error(
            f"The mail server {place} does not accept mail: {problem}",
            "Correct ASSAY_EMAIL_HOST, _PORT, _USER, _PASSWORD or _TLS.",
        )
    else:
        yield ok(f"The mail server {place} accepts the sign-in; mail is sent from {settings.DEFAULT_FROM_EMAIL}")


def is_for_others() -> bool:
    """Whether the site has a name by which other machines may reach it."""
    return not all(map(is_loopback, settings.ALLOWED_HOSTS))


def check_settings() -> Iterator[Finding]:
    """System checks, with those of production where others reach the site."""
    found = checks.run_checks(include_deployment_checks=is_for_others())
    shown = [one for one in found if one.id not in OF_HTTPS and not one.is_silenced()]
    if is_for_others() and not settings.HTTPS:
        yield warning(
            "Passwords and labels travel unencrypted",
            "Put a proxy that ends TLS in front and set ASSAY_HTTPS=1 (docs/deployment.md).",
        )
    for one in shown:
        kind = State.ERROR if one.level >= checks.ERROR else State.WARNING
        yield Finding(kind, " ".join(one.msg.split()), " ".join((one.hint or "See docs/settings.md.").split()))
    if not shown:
        scope = "production" if is_for_others() else "use on this machine"
        yield ok(f"No problem in the settings for {scope}")


def check_static_files() -> Iterator[Finding]:
    hashed = getattr(storages["staticfiles"], "hashed_files", None)
    if hashed is None:
        yield ok("Served from the source, because ASSAY_DEBUG is on")
    elif hashed:
        yield ok(f"{len(hashed):,} files in {settings.STATIC_ROOT}")
    else:
        yield error(
            f"There are none in {settings.STATIC_ROOT}, so no page can be shown",
            "Run `manage.py collectstatic --noinput`, or set ASSAY_STATIC_ROOT to where they are.",
        )


def check_addresses() -> Iterator[Finding]:
    """Whether links lead other people here."""
    if site := known_site():
        source = "chosen on the page of the address" if site.is_chosen else "from ASSAY_ADDRESS"
        yield ok(f"Links begin with {site.address} ({source})")
    if not is_for_others():
        yield warning(
            f"Links lead to this machine only ({', '.join(settings.ALLOWED_HOSTS)}): other people cannot open them",
            "Start with `assay serve --lan`, or set ASSAY_ALLOWED_HOSTS and ASSAY_ADDRESS (docs/share.md).",
        )
    for name in settings.ALLOWED_HOSTS:
        if is_loopback(name) or name.startswith(("*", ".")):
            continue
        try:
            found = {info[4][0] for info in socket.getaddrinfo(name.strip("[]"), None)}
        except OSError:
            yield warning(
                f"The name {name} cannot be resolved on this machine, so links to it may lead nowhere",
                "Add it to the DNS, or correct ASSAY_ALLOWED_HOSTS.",
            )
        else:
            yield ok(f"Links with {name} lead to {', '.join(sorted(found))}")
    if "*" in settings.ALLOWED_HOSTS:
        yield warning(
            "Every host name is accepted, so a forged one appears in links",
            "Name the site's own in ASSAY_ALLOWED_HOSTS.",
        )

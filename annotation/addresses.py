"""The address of this site in links: every absolute link is made here, and leads where others can follow it, if any
address does.

In force is the address that an administrator chose on the page, then the one of ASSAY_ADDRESS, then the one by which
the request came.
"""

from __future__ import annotations

import urllib.request
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import validate_host

from annotation.incoming import Refused, is_loopback, site_address
from annotation.models import SiteAddress, User

ANSWER_SECONDS = 4
_ALIVE = b"ok\n"  # what /healthz says


@dataclass(frozen=True)
class BaseAddress:
    """The address in force, without a path and a last slash. `is_chosen`: by an administrator."""

    address: str
    is_chosen: bool = False

    @property
    def is_for_others(self) -> bool:
        return not is_loopback(_host_of(self.address))


def absolute(request: HttpRequest, path: str) -> str:
    """The path of this site as a link to pass on."""
    return site_of(request).address + path


def site_of(request: HttpRequest) -> BaseAddress:
    """Looked up once in a request."""
    if not hasattr(request, "_assay_site"):
        request._assay_site = known_site() or BaseAddress(f"{request.scheme}://{request.get_host()}")
    return request._assay_site


def known_site() -> BaseAddress | None:
    """What is known without a request. An address whose host is no longer allowed, such as that of a laptop in another
    network, is none."""
    chosen = SiteAddress.objects.order_by("-pk").values_list("address", flat=True).first()
    if chosen and validate_host(_host_of(chosen), settings.ALLOWED_HOSTS):
        return BaseAddress(chosen, is_chosen=True)
    return BaseAddress(settings.ADDRESS) if settings.ADDRESS else None


def _host_of(address: str) -> str:
    """As in ALLOWED_HOSTS."""
    host = urlsplit(address).hostname or ""
    return f"[{host}]" if ":" in host else host


def candidates(request: HttpRequest) -> list[str]:
    """Addresses that others may reach, by the names that the site answers to."""
    names = [name for name in settings.ALLOWED_HOSTS if not is_loopback(name) and not name.startswith(("*", "."))]
    port = "" if settings.HTTPS else request.get_port()
    scheme = "https" if settings.HTTPS else request.scheme
    ending = f":{port}" if port and port not in ("80", "443") else ""
    return [f"{scheme}://{name}{ending}" for name in names]


def check_address(raw: str) -> str:
    """The address in its form, where links with it can work; Refused otherwise. Asks nobody."""
    address = site_address(raw)
    host = _host_of(address)
    if is_loopback(host):
        raise Refused("leads each reader to their own machine; enter the name or IP address of this one")
    if not validate_host(host, settings.ALLOWED_HOSTS):
        raise Refused(
            f"has the host {host}, which this site does not answer to: restart it with "
            f"`assay serve --address {address}`, or add {host} to ASSAY_ALLOWED_HOSTS"
        )
    if settings.HTTPS and not address.startswith("https:"):
        raise Refused("must begin with https://, since this site is served with TLS (ASSAY_HTTPS)")
    return address


def answers(address: str) -> bool:
    """Whether Assay answers this machine there. A name that only other machines know may be right all the same."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/healthz", timeout=ANSWER_SECONDS) as response:
            return response.read(len(_ALIVE)) == _ALIVE
    except (OSError, ValueError):
        return False


def choose_address(by: User, address: str) -> SiteAddress:
    """Put an address in force that `check_address` gave."""
    return SiteAddress.objects.create(address=address, chosen_by=by)

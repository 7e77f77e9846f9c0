"""Who may read details of the installation without an account: the addresses of ASSAY_HEALTH_FROM."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest

VARIABLE = "ASSAY_HEALTH_FROM"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# What proxies add. A request that has one of them did not come straight from where its connection is from.
OF_PROXIES = ("FORWARDED", "VIA", "X_FORWARDED_FOR", "X_FORWARDED_HOST", "X_FORWARDED_PROTO", "X_REAL_IP")


def parse_networks(raw: str) -> tuple[Network, ...]:
    """Comma-separated addresses and networks; ValueError says which part is none."""
    networks = []
    for part in map(str.strip, raw.split(",")):
        try:
            networks.append(ipaddress.ip_network(part))
        except ValueError:
            raise ValueError(f"must list addresses or networks such as 10.0.0.0/8, which {part!r} is not") from None
    return tuple(networks)


LOOPBACK = parse_networks("127.0.0.0/8, ::1")


def may_see_details(request: HttpRequest) -> bool:
    try:
        address = ipaddress.ip_address(_address_of(request))
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in settings.HEALTH_FROM)


def _address_of(request: HttpRequest) -> str:
    """The client's; empty where a proxy did not say it, since a proxy on this machine comes from a loopback address."""
    proxies = settings.TRUSTED_PROXIES
    if proxies == 0 or not any(f"HTTP_{name}" in request.META for name in OF_PROXIES):
        return request.META.get("REMOTE_ADDR", "")
    hops = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    return hops[-proxies].strip() if 0 < proxies <= len(hops) else ""

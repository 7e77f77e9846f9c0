"""The one door for requests to addresses that users type: to public hosts only, unless the operator allows a host.

A host's name is resolved once and every address that it has is looked at; the connection goes to one of these, so
what the name says a moment later changes nothing. `post` follows no redirects, `get` a few, and looks at each hop in
the same way. Proxies of the environment are not used, and seconds and bytes of an answer are bounded. The standard
library only.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urldefrag, urljoin, urlsplit

URL_CHARS = 500
PAGE_URL_CHARS = 2_000
ANSWER_BYTES = 2_000
REDIRECTS = 5
SECONDS = 10.0
PORTS = {"http": 80, "https": 443}
# Networks whose addresses carry one of the other kind in their last bytes: NAT64, and IPv4-compatible.
_CARRYING = tuple(ipaddress.ip_network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96"))
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(ValueError):
    """The URL must not be requested, whatever is there; the message is for the user who typed it."""


class NoAnswer(Exception):
    """The host was not reached, or did not answer as HTTP in time."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    text: str  # its beginning


@dataclass(frozen=True, slots=True)
class Fetched:
    status: int
    url: str  # where it was found in the end
    headers: Mapping[str, str]  # by names in small letters
    body: bytes  # at most as much as was asked for, and a byte more where there is more
    is_whole: bool  # not if the host announced more than it sent


def parse_url(url: str, allowed: Collection[str] = (), chars: int = URL_CHARS) -> SplitResult:
    """The parts of a URL that may be requested, as far as is known without resolving its host's name."""
    if len(url) > chars or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressRefused(f"must be an address of at most {chars} characters, without spaces and accents")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("is not an address") from None
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        raise AddressRefused("must begin with https:// or http:// and name a host")
    if "@" in parts.netloc:
        raise AddressRefused("must not hold a name or password")
    if parts.fragment:
        raise AddressRefused("must not hold #")
    _refuse_private_literal(parts, allowed)
    return parts


def _refuse_private_literal(parts: SplitResult, allowed: Collection[str]) -> None:
    literal = None
    with contextlib.suppress(ValueError):
        literal = ipaddress.ip_address(parts.hostname)
    if parts.hostname == "localhost" or parts.hostname.endswith(".localhost"):
        literal = ipaddress.ip_address("127.0.0.1")
    if literal is not None:
        _refuse_private(literal, parts, allowed)


def check_public(url: str) -> None:
    """AddressRefused for what is no address of a page on the public Internet, as far as it says itself. Nothing is
    asked, so accents and `#` are as welcome as in a browser."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("is no address") from None
    if parts.scheme not in PORTS or not parts.hostname or port == 0 or url.split() != [url]:
        raise AddressRefused("must begin with https:// or http:// and name a host, without spaces")
    _refuse_private_literal(parts, ())


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, allowed: Collection[str] = (), seconds: float = SECONDS
) -> Reply:
    """The answer, whatever its status. `allowed` are hosts (`host` or `host:port`) that may have private addresses."""
    parts = parse_url(url, allowed)
    answer, raw = _exchange("POST", parts, body, headers, allowed, seconds, ANSWER_BYTES)
    return Reply(answer.status, raw.decode("utf-8", "replace").replace("\0", "�"))


def get(
    url: str,
    headers: Mapping[str, str],
    *,
    allowed: Collection[str] = (),
    seconds: float = SECONDS,
    most_bytes: int,
) -> Fetched:
    """What is at an address, whatever its status, after at most REDIRECTS redirects. `headers` go to the first host
    alone: one of them may be a key."""
    first = ""
    for _ in range(REDIRECTS + 1):
        try:
            asked = quote(urldefrag(url).url, safe="!#$%&'()*+,/:;=?@[]~")
            first = first or urlsplit(asked).netloc
        except ValueError:
            raise AddressRefused("is no address") from None
        parts = parse_url(asked, allowed, PAGE_URL_CHARS)
        answer, body = _exchange(
            "GET", parts, None, headers if parts.netloc == first else {}, allowed, seconds, most_bytes + 1
        )
        found = {name.lower(): value for name, value in answer.getheaders()}
        if answer.status not in (301, 302, 303, 307, 308) or "location" not in found:
            length = found.get("content-length", "")
            is_whole = not length.isdecimal() or len(body) >= min(int(length[:18]), most_bytes + 1)
            return Fetched(answer.status, asked, found, body, is_whole)
        try:
            url = urljoin(asked, found["location"])
        except ValueError:
            raise AddressRefused("leads to what is no address") from None
    raise NoAnswer(f"{parts.hostname}: redirects more than {REDIRECTS} times")


def _exchange(
    method: str,
    parts: SplitResult,
    body: bytes | None,
    headers: Mapping[str, str],
    allowed: Collection[str],
    seconds: float,
    most_bytes: int,
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = _Pinned(parts, resolve(parts, allowed), seconds)
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    watch = threading.Timer(seconds, connection.cut)
    watch.daemon = True
    watch.start()
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        raw = answer.read(most_bytes)
        if connection.is_cut:
            raise TimeoutError
        return answer, raw
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = "no answer in time" if connection.is_cut else str(error) or type(error).__name__
        raise NoAnswer(f"{parts.hostname}: {reason}"[:300]) from None
    finally:
        watch.cancel()
        connection.close()


def _port(parts: SplitResult) -> int:
    return parts.port or PORTS[parts.scheme]


def resolve(parts: SplitResult, allowed: Collection[str]) -> str:
    """An address of the host. AddressRefused where any of its addresses is not public."""
    try:
        infos = socket.getaddrinfo(parts.hostname, _port(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NoAnswer(f"{parts.hostname} has no address") from None
    addresses = [str(row[4][0]) for row in infos]
    for one in addresses:
        _refuse_private(ipaddress.ip_address(one.partition("%")[0]), parts, allowed)
    if not addresses:
        raise NoAnswer(f"{parts.hostname} has no address")
    return addresses[0]


def _refuse_private(address: Address, parts: SplitResult, allowed: Collection[str]) -> None:
    if is_public(address) or is_allowed(parts, allowed):
        return
    raise AddressRefused(
        f"leads to {address}, which is not on the public Internet; the site's administrator may allow {parts.hostname}"
    )


def is_allowed(parts: SplitResult, allowed: Collection[str]) -> bool:
    """Whether the operator allows the host, wherever it is."""
    return parts.hostname in allowed or f"{parts.hostname}:{_port(parts)}" in allowed


def is_public(address: Address) -> bool:
    """Whether the address is one of the public Internet, the IPv4 address that an IPv6 one carries included."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if inner is None and any(address in network for network in _CARRYING):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None and not is_public(inner):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


class _Pinned(http.client.HTTPConnection):
    """A connection to an address that was looked at, by the name that the host has."""

    def __init__(self, parts: SplitResult, address: str, seconds: float) -> None:
        super().__init__(parts.hostname or "", _port(parts), timeout=seconds)
        self.address, self.is_cut = address, False
        self.line: socket.socket | None = None  # the library forgets its own while an answer is still read
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.default_port = PORTS[parts.scheme]

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), self.timeout)
        if self.tls is not None:
            self.sock = self.tls.wrap_socket(self.sock, server_hostname=self.host)
        self.line = self.sock

    def cut(self) -> None:
        """When its time is over: a host that answers a byte now and then would hold the worker."""
        self.is_cut = True
        if self.line is not None:
            with contextlib.suppress(OSError):
                self.line.shutdown(socket.SHUT_RDWR)

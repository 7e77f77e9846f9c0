"""The one door for requests to addresses that users type."""

import ipaddress
import socket
import time

import pytest

from models_runtime import egress

PRIVATE = (
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
    *("::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
    # IPv4 addresses inside IPv6 ones
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::a00:1"),
    *("2002:7f00:1::", "2002:a00:1::"),
)
PUBLIC = ("8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001:81c::200e")


def test_which_addresses_are_public():
    assert [one for one in PRIVATE if egress.is_public(ipaddress.ip_address(one))] == []
    assert [one for one in PUBLIC if not egress.is_public(ipaddress.ip_address(one))] == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org/", "must begin with"),
        ("https:///path", "must begin with"),
        ("//example.org", "must begin with"),
        ("file:///etc/passwd", "must begin with"),
        ("https://a:b@example.org/", "name or password"),
        ("https://example.org/#x", "must not hold #"),
        ("https://example.org:99999/", "is not an address"),
        ("https://[::1/", "is not an address"),
        ("https://exa mple.org/", "without spaces"),
        ("https://example.org/\r\nX: y", "without spaces"),
        ("https://exämple.org/", "without spaces"),
        ("https://example.org/" + "a" * 500, "500 characters"),
        ("http://localhost:8000/", "not on the public Internet"),
        ("http://[::ffff:169.254.169.254]/", "not on the public Internet"),
    ],
)
def test_addresses_that_are_never_asked(url, said):
    with pytest.raises(egress.AddressRefused, match=said):
        egress.post(url, b"", {})


@pytest.mark.parametrize("address", PRIVATE)
def test_names_that_lead_to_private_addresses_are_refused_before_anything_is_sent(address, monkeypatch):
    def resolved(host, port, **more):
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(socket.AF_INET, 1, 6, "", ("8.8.8.8", port)), (kind, 1, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(socket, "create_connection", lambda *args: pytest.fail("it was asked"))
    with pytest.raises(egress.AddressRefused, match="hooks.example.org"):
        egress.post("https://hooks.example.org/", b"", {})


def test_an_allowed_host_is_asked_and_gets_what_was_sent(receiver):
    with pytest.raises(egress.AddressRefused, match="the site's administrator may allow 127.0.0.1"):
        egress.post(receiver.url, b"{}", {})
    with pytest.raises(egress.AddressRefused):
        egress.post(receiver.url, b"{}", {}, allowed=["127.0.0.1:1"])
    answer = egress.post(receiver.url, b'{"a":1}', {"Assay-Event": "ping"}, allowed=[receiver.host])
    assert (answer.status, answer.text) == (200, "thanks")
    [(path, headers, body)] = receiver.got
    assert (path, headers["Host"], headers["Assay-Event"], body) == ("/hook?a=b", receiver.host, "ping", b'{"a":1}')


def test_a_name_that_changes_is_resolved_once_and_what_was_looked_at_is_asked(monkeypatch):
    """Its first answer is public, every later one is not."""
    asked, opened = [], []

    def resolved(host, port, **more):
        asked.append(host)
        return [(socket.AF_INET, 1, 6, "", ("93.184.215.14" if len(asked) == 1 else "127.0.0.1", port))]

    def opens(address, timeout):
        opened.append(address)
        raise OSError("nobody is there")

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(socket, "create_connection", opens)
    with pytest.raises(egress.NoAnswer):
        egress.post("http://rebinding.example.org/", b"", {})
    assert asked == ["rebinding.example.org"] and opened == [("93.184.215.14", 80)]
    with pytest.raises(egress.AddressRefused):
        egress.post("http://rebinding.example.org/", b"", {})
    assert len(opened) == 1


def test_a_redirect_is_given_back_and_not_followed(receiver):
    receiver.answer = (302, {"Location": f"http://{receiver.host}/private"}, [b""])
    assert egress.post(receiver.url, b"", {}, allowed=[receiver.host]).status == 302
    assert [path for path, _, _ in receiver.got] == ["/hook?a=b"]


def test_an_answer_is_bounded_in_bytes_and_seconds(receiver):
    receiver.answer = (200, {}, [b"x" * 100_000])
    assert len(egress.post(receiver.url, b"", {}, allowed=[receiver.host]).text) == egress.ANSWER_BYTES
    receiver.answer = (200, {}, [b"x"] * 200)  # ten seconds of dripping
    started = time.monotonic()
    with pytest.raises(egress.NoAnswer, match="in time"):
        egress.post(receiver.url, b"", {}, allowed=[receiver.host], seconds=0.5)
    assert time.monotonic() - started < 5


def test_what_is_not_there_or_no_http_is_told(receiver, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(egress.NoAnswer, match="127.0.0.1"):
        egress.post(f"http://127.0.0.1:{port}/", b"", {}, allowed=["127.0.0.1"])
    with pytest.raises(egress.NoAnswer):  # no certificate there
        egress.post(f"https://{receiver.host}/", b"", {}, allowed=[receiver.host])

    def unknown(*args, **more):
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(egress.NoAnswer, match="has no address"):
        egress.post("https://nowhere.example.org/", b"", {})

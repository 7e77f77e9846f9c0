"""What `assay serve` and `assay worker` refuse, and why."""

import os
from unittest.mock import patch

import pytest

from assay import places, serving
from assay.serving import serve, work


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
def test_an_address_of_another_machine_is_not_called_a_taken_port(host, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match=f"This machine has no address {host}"):
        serve(["--host", host, "--port", "8999"])


def test_a_worker_without_processes_is_refused(capsys):
    with pytest.raises(SystemExit):
        work(["-c", "0"])
    assert "1 or more" in capsys.readouterr().err


@pytest.fixture
def served(tmp_path, monkeypatch):
    """What `assay serve` sets for its processes, and the lines that it prints."""

    def run(*arguments):
        chosen = {}
        with patch.dict(os.environ, {"ASSAY_DATA_DIR": str(tmp_path)}):
            for name in ("ASSAY_ALLOWED_HOSTS", "ASSAY_HTTPS", "ASSAY_ADDRESS", "ASSAY_TRUSTED_PROXIES"):
                os.environ.pop(name, None)

            def record(asked, server, address, words, **more):
                chosen.update(os.environ, BIND=server[server.index("--bind") + 1], WORDS="\n".join(words))
                return 0

            monkeypatch.setattr(serving, "_serve", record)
            serve(["--port", "8149", *arguments])
        return chosen

    return run


def test_links_begin_with_the_address_in_the_network(served, monkeypatch):
    monkeypatch.setattr(serving, "_names_of", lambda host: ["192.168.1.20", "lab7", "lab7.local"])
    chosen = served("--lan")
    assert chosen["ASSAY_ADDRESS"] == "http://192.168.1.20:8149" and chosen["BIND"] == "0.0.0.0:8149"
    assert {"127.0.0.1", "192.168.1.20", "lab7.local"} <= set(chosen["ASSAY_ALLOWED_HOSTS"].split(","))
    assert "Others open:       http://192.168.1.20:8149/" in chosen["WORDS"] and "Caution" in chosen["WORDS"]
    named = served("--address", "lab.example.org:8149")
    assert named["ASSAY_ADDRESS"] == "http://lab.example.org:8149" and named["BIND"] == "0.0.0.0:8149"
    assert "lab.example.org" in named["ASSAY_ALLOWED_HOSTS"].split(",")


def test_an_address_with_tls_is_that_of_a_proxy(served):
    chosen = served("--address", "https://assay.example.org")
    names = ("ASSAY_ADDRESS", "ASSAY_TRUSTED_ORIGINS", "ASSAY_HTTPS", "ASSAY_TRUSTED_PROXIES", "BIND")
    assert [chosen[name] for name in names] == [
        "https://assay.example.org",
        "https://assay.example.org",
        "1",
        "1",
        "127.0.0.1:8149",
    ]
    assert "Caution" not in chosen["WORDS"]


def test_alone_it_says_so(served, capsys):
    chosen = served()
    assert "ASSAY_ADDRESS" not in chosen and "for this machine alone; --lan" in chosen["WORDS"]
    with pytest.raises(SystemExit):
        served("--address", "http://lab/assay")
    assert "must end after the host and the port" in capsys.readouterr().err


def test_other_commands_find_the_static_files_of_a_served_folder(served, tmp_path):
    """Else `assay doctor --data FOLDER` says that no page can be shown."""
    assert places.static_folder(tmp_path) == places.PACKAGES / "staticfiles"
    gathered = served()["ASSAY_STATIC_ROOT"]
    os.mkdir(gathered)
    assert str(places.static_folder(tmp_path)) == gathered

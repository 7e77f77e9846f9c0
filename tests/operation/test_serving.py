"""What `assay serve` and `assay worker` refuse, and why."""

import pytest

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

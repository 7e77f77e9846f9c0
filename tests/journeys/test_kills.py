"""Every service of an installation is killed once while people label and jobs run; the long version is a benchmark."""

import json
import subprocess
import sys

import pytest

from benchmarks.reliability.__main__ import FAULTS, missing
from benchmarks.shared.processes import ROOT

BROKER = "redis" if missing("rabbitmq") else "rabbitmq"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.services,
    pytest.mark.skipif(bool(missing("redis")), reason=f"not installed: {missing('redis')}"),
]


def test_no_answer_is_lost_and_no_job_is_stuck_when_each_service_is_killed(tmp_path):
    kills, found = 6 if BROKER == "rabbitmq" else 5, tmp_path / "found.json"
    command = [sys.executable, "-m", "benchmarks.reliability", "--broker", BROKER, "--kills", str(kills)]
    command += ["--items", "200", "--pairs", "300", "--json", str(found)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.exists(), done.stderr[-3000:]
    result = json.loads(found.read_text())
    assert result["kills"] == kills and set(result["by_service"].values()) == {1}
    assert result["acknowledged"] > 0 and result["acknowledged"] <= result["stored"]
    assert all(f"{kind} done" in result["jobs"] for kind in ("import", "run", "export", "release"))
    assert {name: result[name] for name in FAULTS if result[name]} == {} and done.returncode == 0

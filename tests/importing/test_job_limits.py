"""Jobs that take more time or memory than a part may, and one whose file unfolds to millions of values: each fails or
stops with a message, and the worker goes on. Real worker processes."""

import os
import re
import resource
import signal
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.formats import Options, SourceFile, get_format
from annotation.formats.files import yaml_texts
from annotation.formats.files.yaml_texts import load_yaml
from annotation.formats.records import FormatError
from annotation.jobs import leases, lifecycle, limits
from annotation.jobs.kinds import KINDS
from annotation.jobs.limits import limited
from annotation.models import Chunk, Job
from tests.factories import make_user
from tests.importing.own_worker import ask, make_place, manage, start_worker, wait_for
from tests.suggesting.workers import kill_session

CREATE = """
from annotation.jobs import lifecycle
from annotation.models import Job, User
user, _ = User.objects.get_or_create(username='a', email='a@b.org')
for how in {kinds!r}:
    lifecycle.create_job(Job.Kind.ITEMS, user, chunks=[({{}}, 0)], parameters={{'how': how}})
"""


def bomb(path: Path, size: int = 3000) -> Path:
    """A configuration of Potato: one question with `size` labels, as an alias `size` times."""
    labels = ", ".join(f"l{n}" for n in range(size))
    first = f"annotation_schemes: [&s {{annotation_type: radio, name: q, labels: &l [{labels}]}}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.yaml", first + ", *s" * (size - 1) + "]\n")
        line = (
            '{"id": "1", "displayed_text": "A text", "label_annotations": {"q": {"l1": "1"}}, "span_annotations": []}\n'
        )
        archive.writestr("annotation_output/ada/annotated_instances.jsonl", line)
    return path


def test_aliases_expand_within_a_bound(tmp_path):
    path = bomb(tmp_path / "potato.zip")
    assert path.stat().st_size < 20_000
    begun = time.monotonic()
    with pytest.raises(FormatError, match=r"its aliases expand to 9,0\d\d,\d\d\d values; at most 100,000 are read"):
        get_format("potato").label_set_of([SourceFile(path, "potato.zip")], Options(), "p")
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]",
        "\n".join(
            [
                f"a0: &a0 [{', '.join('x' * 9)}]",
                *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)),
            ]
        ),
    ],
    ids=["endless", "small", "laughs"],
)
def test_yaml_is_text_and_bounded(text):
    if text.startswith("a: &a [1]"):
        assert load_yaml(text.encode(), "c") == {"a": ["1"], "b": [["1"]] * 2, "c": [[["1"]] * 2] * 2}
        return
    with pytest.raises(FormatError):
        load_yaml(text.encode(), "c")


def test_no_other_module_loads_yaml():
    root = Path(yaml_texts.__file__).parents[3]
    found = {
        path.name
        for folder in ("annotation", "analysis", "models_runtime", "config")
        for path in (root / folder).rglob("*.py")
        if re.search(r"yaml\.(safe_)?load|\b(C?(Base|Full|Safe|Unsafe))?Loader\(", path.read_text(encoding="utf-8"))
    }
    assert found == {"yaml_texts.py"}


@pytest.mark.slow
def test_a_part_over_a_limit_fails_and_the_worker_goes_on(tmp_path):
    place = make_place(tmp_path) | {"ASSAY_JOB_MEMORY_MB": "512", "ASSAY_CHUNK_LEASE_SECONDS": "30"}
    manage(place, "shell", "-v0", "-c", CREATE.format(kinds=["memory", "fine", "time"]))
    worker = start_worker(place, "-I", "tests.importing.hungry")
    try:
        wait_for(place, "SELECT count(*) FROM annotation_job WHERE state IN ('done', 'failed')", lambda n: n == 2)
        how = "json_extract(parameters, '$.how')"
        assert ask(place, f"SELECT state FROM annotation_job WHERE {how} = 'fine'") == "done"
        message = ask(place, f"SELECT message FROM annotation_job WHERE {how} = 'memory'")
        assert message.startswith("A part of this job needed more than 512 MB of memory, the limit")
        wait_for(place, f"SELECT state FROM annotation_job WHERE {how} = 'time'", lambda state: state == "running")
        cancel = "from annotation.models import Job; Job.objects.filter(state='running').update(cancel_requested=True)"
        manage(place, "shell", "-v0", "-c", cancel)
        begun = time.monotonic()
        wait_for(place, f"SELECT state FROM annotation_job WHERE {how} = 'time'", lambda state: state == "cancelled")
        assert time.monotonic() - begun < 20
        manage(place, "shell", "-v0", "-c", CREATE.format(kinds=["fine"]))
        wait_for(place, "SELECT count(*) FROM annotation_job WHERE state = 'done'", lambda n: n == 2)
    finally:
        kill_session(worker)


class Endless:
    def run_chunk(self, chunk, lease):
        while True:
            pass

    def clean_up(self, job):
        """Nothing is staged."""


ENDLESS = Endless()


@pytest.mark.django_db(transaction=True)
def test_a_part_that_takes_too_long_fails_its_job(settings, monkeypatch):
    settings.JOB_PART_SECONDS = 0.2
    monkeypatch.setattr(limits, "GRACE_SECONDS", 0.1)
    endless = replace(KINDS[Job.Kind.ITEMS], handler="tests.importing.test_job_limits.ENDLESS")
    monkeypatch.setitem(KINDS, Job.Kind.ITEMS, endless)
    job = lifecycle.create_job(Job.Kind.ITEMS, make_user(), chunks=[({}, 0)], wake_workers=False)
    job = lifecycle.run_here(job)
    assert job.state == "failed"
    assert "A part of this job took longer than" in job.message


def test_what_ends_in_time_is_not_interrupted(settings, monkeypatch):
    settings.JOB_PART_SECONDS = 60
    lease = leases.Lease(Chunk(pk=1), None, threading.Event(), threading.Event())
    with limited(lease, "default"):
        lease._cancelled.set()
    for _ in range(1000):
        assert not lease._lost.is_set()


def test_a_late_interruption_leaves_no_limit_behind(settings, monkeypatch):
    settings.JOB_PART_SECONDS = 0.05
    monkeypatch.setattr(limits, "GRACE_SECONDS", 0.05)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    set_limit, changes = resource.setrlimit, []

    def slow(kind, both):
        end = time.monotonic() + (0.3 if changes else 0)  # when the limit is lifted
        while time.monotonic() < end:
            pass
        changes.append(kind)
        set_limit(kind, both)

    monkeypatch.setattr(resource, "setrlimit", slow)
    lease = leases.Lease(Chunk(pk=1), None, threading.Event(), threading.Event())
    try:
        with pytest.raises(limits.OverTime), limited(lease, "default"):
            while True:
                pass
        assert resource.getrlimit(resource.RLIMIT_DATA) == before
        assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
        assert not [thread for thread in threading.enumerate() if thread.name == "limits-1"]
    finally:
        set_limit(resource.RLIMIT_DATA, before)


def test_a_part_that_never_comes_back_to_python_ends_its_process(settings, monkeypatch):
    settings.JOB_PART_SECONDS = 0.1
    monkeypatch.setattr(limits, "GRACE_SECONDS", 0.01)
    child = os.fork()
    if not child:
        with limited(leases.Lease(Chunk(pk=1), None, threading.Event(), threading.Event()), "default"):
            re.match(r"(a+)+$", "a" * 60 + "b")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGPROF

"""A retrieval in real Celery workers, which are killed in the middle."""

import time
from collections import Counter

import pytest

from annotation.jobs import lifecycle
from annotation.machines.retrieval import retrieving
from annotation.models import Chunk, Job, QueryRanking, RankedPassage
from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.retrieval.harbour import WHOLE, start
from tests.suggesting.workers import running_worker, wait_for, worker_environment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CLAIMS = 600


def test_a_killed_worker_loses_nothing_and_repeats_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(retrieving, "CHUNK_SIZE", 50)
    dataset = make_dataset()
    make_claim_evidence(dataset, CLAIMS, claims=CLAIMS)
    project = make_project(dataset, overlap=1)
    run = start(project, top=3, parameters=WHOLE)
    environment = worker_environment(tmp_path, "filesystem://", DJANGO_SETTINGS_MODULE="tests.retrieval.slow_settings")

    def done_chunks() -> dict[int, tuple]:
        rows = run.job.chunks.filter(state=Chunk.State.DONE).exclude(index=lifecycle.FINISH_INDEX)
        return {row.index: (row.attempts, row.done_at) for row in rows}

    with running_worker(tmp_path, environment) as first:
        wait_for(lambda: len(done_chunks()) >= 2, "some chunks were done", first)
        first.freeze()
        while not run.job.chunks.filter(state=Chunk.State.LEASED).exists():  # between two chunks
            first.thaw()
            time.sleep(0.02)
            first.freeze()
        first.kill()
    before = done_chunks()
    assert 2 <= len(before) < 12
    in_hand = run.job.chunks.filter(state=Chunk.State.LEASED).count()
    assert in_hand >= 1 and QueryRanking.objects.filter(run=run).count() == 50 * len(before)
    stored = set(RankedPassage.objects.values_list("pk", flat=True))
    with running_worker(tmp_path, environment) as second:
        wait_for(lambda: Job.objects.get(pk=run.job_id).state == Job.State.DONE, "the run was done", second)
    after = done_chunks()
    assert {index: after[index] for index in before} == before
    assert sum(attempts for attempts, _ in after.values()) == 12 + in_hand
    assert QueryRanking.objects.filter(run=run, reason="").values("claim").distinct().count() == CLAIMS
    assert QueryRanking.objects.filter(run=run).count() == CLAIMS
    assert RankedPassage.objects.filter(ranking__run=run).count() == 3 * CLAIMS
    assert stored <= set(RankedPassage.objects.values_list("pk", flat=True))
    run.job.refresh_from_db()
    assert run.job.progress_done == run.job.progress_total == CLAIMS
    # Every process has built the index once, however many chunks it did.
    built = Counter((tmp_path / "indexed").read_text().split())
    assert set(built.values()) == {1}
    run.refresh_from_db()
    assert run.corpus_hash and run.device_seconds >= CLAIMS * 0.02 * 0.9

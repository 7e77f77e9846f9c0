"""An import of labels by the command, killed at several points: nothing reads half of it, and the command run again
ends with what an import that nobody killed has."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.importing.own_worker import ROOT, ask, make_place, manage, wait_for

CLAIMS, EVIDENCE, VOTES = 250, 5, 3
LABELS = CLAIMS * EVIDENCE * VOTES
STANCES = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO")
ROWS = """
SELECT i.key, r.name, j.dimension, j.label FROM annotation_judgement j
JOIN annotation_revision v ON v.id = j.revision_id JOIN annotation_annotation a ON a.id = v.annotation_id
JOIN annotation_item i ON i.id = a.item_id JOIN annotation_rater r ON r.id = a.rater_id
JOIN annotation_project p ON p.id = i.project_id WHERE p.slug = ? ORDER BY 1, 2, 3
"""


def write_claims(path: Path) -> Path:
    with open(path, "w", encoding="utf-8") as out:
        for claim in range(CLAIMS):
            evidences = [
                {
                    "evidence_id": f"e{claim}:{n}",
                    "evidence_label": STANCES[(claim + n) % 3],
                    "article": f"Article {n}",
                    "evidence": f"Sentence {n} about claim {claim}.",
                    "entropy": 0.0,
                    "votes": [STANCES[(claim + n + (vote == 2 and n == 1)) % 3] for vote in range(VOTES)],
                }
                for n in range(EVIDENCE)
            ]
            row = {
                "claim_id": str(claim),
                "claim": f"Claim {claim} is true.",
                "claim_label": "DISPUTED",
                "evidences": evidences,
            }
            out.write(json.dumps(row) + "\n")
    return path


def command(place, file, dataset, project):
    said = ["import_dataset", str(file), "--format", "climate-fever", "--dataset", dataset, "--project", project]
    return subprocess.Popen(
        [sys.executable, "manage.py", *said, "--task-type", "claim-evidence/three-way/1"],
        cwd=ROOT,
        env=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def rows_of(place, project):
    with closing(sqlite3.connect(Path(place["ASSAY_DATA_DIR"]) / "assay.sqlite3", timeout=30)) as database:
        return database.execute(ROWS, [project]).fetchall()


POINTS = (
    ("SELECT count(*) FROM annotation_evidence", lambda n: n > 0, signal.SIGKILL),
    ("SELECT count(*) FROM annotation_annotation", lambda n: n > 0, signal.SIGTERM),
    ("SELECT count(*) FROM annotation_annotation", lambda n: n > 1500, signal.SIGKILL),
)


@pytest.mark.slow
def test_killed_at_several_points_it_is_whole_in_the_end(tmp_path):
    place = make_place(tmp_path) | {"ASSAY_CHUNK_LEASE_SECONDS": "2"}
    file = write_claims(tmp_path / "claims.jsonl")
    manage(
        place, "shell", "-v0", "-c", "from annotation.models import User; User.objects.create_superuser('a', 'a@b.org')"
    )
    for question, is_reached, how in POINTS:
        running = command(place, file, "killed", "killed")
        wait_for(place, question, is_reached, 240)
        running.send_signal(how)
        running.wait(120)
        assert running.returncode in (-how, 128 + how)
        found = len(rows_of(place, "killed"))
        assert found < LABELS
        if ask(place, "SELECT count(*) FROM annotation_project"):
            assert ask(place, "SELECT state FROM annotation_project") == "preparing"
            report = subprocess.run(
                [sys.executable, "manage.py", "report", "killed", "agreement"],
                cwd=ROOT,
                env=place,
                capture_output=True,
                text=True,
                check=False,
            )
            assert report.returncode == 1 and "An import is storing labels" in report.stderr
    for project in ("killed", "whole"):
        running = command(place, file, project, project)
        said, _ = running.communicate(timeout=300)
        assert running.returncode == 0, said
        assert ("Continuing the import" in said) == (project == "killed")
    assert ask(place, "SELECT count(*) FROM annotation_project WHERE state = 'open' AND filled_by_id IS NULL") == 2
    assert ask(place, "SELECT count(*) FROM annotation_job WHERE kind = 'import'") == 2
    assert len(rows_of(place, "killed")) >= LABELS
    assert rows_of(place, "killed") == rows_of(place, "whole")

"""Which torch `make demo` installs, and what it leaves out: scripts/install.sh with programs that only write down what
they are asked. Whether the packages themselves can be had depends on the network, which tests do not ask."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Writes its arguments down. As uv, it answers for torch's own index as the test says.
RECORDER = """#!/bin/sh
case "$0 $*" in *override*) for one in "$@"; do case $one in /dev/fd/*) said=$(cat "$one");; esac; done;; esac
echo "$(basename "$0") $* $said" >> "$RECORD"
case "$*" in *--dry-run*--torch-backend*)
    echo "asked within $UV_HTTP_CONNECT_TIMEOUT s" >> "$RECORD"; exit ${INDEX:-0};;
esac
"""


@pytest.fixture
def place(tmp_path):
    """A folder as a clone is, whose environment has a uv, a pip and a Python of this kind."""
    for file in (ROOT / "Makefile", *ROOT.glob("requirements*.txt")):
        shutil.copy(file, tmp_path)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "install.sh", tmp_path / "scripts")
    for name in ("bin", ".venv/bin"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("bin/nvidia-smi", ".venv/bin/uv", ".venv/bin/python"):
        (tmp_path / name).write_text(RECORDER)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "bin" / "nvidia-smi").unlink()
    return tmp_path


def make(place: Path, *arguments: str, **variables: str) -> tuple[str, list[str]]:
    """What it said, and which programs were asked for what."""
    record = place / "record"
    record.write_text("")
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["make", *arguments],
        cwd=place,
        env={"PATH": path, "HOME": str(place), "RECORD": str(record), **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, record.read_text().splitlines()


def torch_lines(asked: list[str]) -> list[str]:
    return [line for line in asked if "requirements-torch.txt" in line and "--dry-run" not in line]


def see_a_gpu(place: Path) -> None:
    (place / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100'\n")
    (place / "bin" / "nvidia-smi").chmod(0o755)


DEMO = ["requirements.txt ", "requirements-formats.txt ", "requirements-checkers.txt "]
RUNTIME = ".venv/.runtime-ready"
READY = ".venv/.ready"


def test_the_demo_takes_the_small_form_unless_torch_is_chosen(place):
    _, asked = make(place, RUNTIME)
    assert torch_lines(asked) == []
    assert [line.split("-r ")[1:] for line in asked if "-r " in line] == [DEMO]
    _, asked = make(place, RUNTIME, "TORCH=auto")
    more = ["requirements-statistics.txt ", "requirements-models.txt ", "requirements-papers.txt "]
    assert torch_lines(asked) and asked[-1].split("-r ")[1:] == DEMO + more
    assert make(place, RUNTIME)[1] == []


def test_without_a_gpu_torch_is_the_build_for_the_cpu_and_its_size_is_said(place):
    said, asked = make(place, READY)
    [torch] = torch_lines(asked)
    assert torch.startswith("uv pip install") and "--torch-backend cpu" in torch and "--reinstall" not in torch
    assert "'cpu' (about 200 MB" in said
    assert asked.index(torch) < next(n for n, line in enumerate(asked) if "-r requirements-models.txt" in line)


def test_with_a_gpu_uv_looks_which_build_fits(place):
    see_a_gpu(place)
    said, asked = make(place, READY)
    assert "--torch-backend auto" in torch_lines(asked)[0] and "about 3 GB" in said


def test_a_build_chosen_by_hand_takes_the_place_of_another_and_is_remembered(place):
    make(place, RUNTIME)
    assert make(place, RUNTIME)[1] == []
    _, asked = make(place, RUNTIME, "TORCH=cu128")
    assert "--torch-backend cu128 --reinstall-package torch" in torch_lines(asked)[0]
    assert make(place, RUNTIME, "TORCH=cu128")[1] == [] and make(place, RUNTIME)[1] == []
    os.utime(place / "requirements.txt", (2**32, 2**32))
    assert "--torch-backend cu128" in torch_lines(make(place, RUNTIME)[1])[0]


@pytest.mark.parametrize("build", ["", "cu128"])
def test_where_the_index_does_not_answer_pip_takes_torch_first_and_alone(place, build):
    said, asked = make(place, READY, *([f"TORCH={build}"] if build else []), INDEX="2")
    [torch] = torch_lines(asked)
    assert torch.startswith("python -m pip install ") and torch.strip().endswith(
        "version-check -r requirements-torch.txt"
    )
    assert asked.index(torch) < next(n for n, line in enumerate(asked) if "-r requirements-models.txt" in line)
    assert "asked within 5 s" in asked
    assert "does not answer" in said and "about 3 GB" in said and "TORCH=none" in said


def test_no_torch_by_hand_keeps_it_out_of_what_depends_on_it(place):
    said, asked = make(place, ".venv/.ready", "TORCH=none")
    assert torch_lines(asked) == [] and "no torch" in said
    [small, full] = [line for line in asked if "-r requirements.txt" in line]
    assert "requirements-models.txt" not in small and "torch; python_version < '3'" in full
    assert any("uninstall" in line and line.split()[-1] == "torch" for line in asked)


def test_what_is_no_build_is_told_before_anything_is_installed(place):
    done = subprocess.run(["make", RUNTIME, "TORCH=gpu"], cwd=place, capture_output=True, text=True)
    assert done.returncode != 0 and "TORCH is none, auto, cpu, or a build such as cu128; it is 'gpu'" in done.stderr
    assert not (place / RUNTIME).exists()


def test_the_demo_needs_no_tools_for_tests_and_the_tests_do(place):
    _, asked = make(place, RUNTIME)
    assert not any("requirements-dev.txt" in line for line in asked)
    _, asked = make(place, ".venv/.ready")
    assert any("-r requirements-papers.txt -r requirements-dev.txt" in line for line in asked)
    os.utime(place / "requirements-dev.txt", (2**32, 2**32))
    assert "install.sh" not in subprocess.run(["make", "-n", "demo"], cwd=place, capture_output=True, text=True).stdout
    assert "install.sh dev" in subprocess.run(["make", "-n", "test"], cwd=place, capture_output=True, text=True).stdout

"""The demo as `make demo` installs it, without models: all works but what needs them, which says so."""

import re

import pytest

from models_runtime import packages
from models_runtime.contracts import Package

from .demo import ROOT, free_port, made_before, manage, running_demo, sign_in, text_of, wait_until

pytestmark = pytest.mark.slow

# Every process of the demo reads it at its start.
HIDING = """
import importlib.machinery as machinery
find = machinery.PathFinder.find_spec
def find_spec(cls, name, path=None, target=None):
    return None if name.partition(".")[0] in {hidden} else find(name, path, target)
machinery.PathFinder.find_spec = classmethod(find_spec)
"""
# What requirements-torch.txt, -models.txt and -papers.txt add, by the names that are imported.
ADDED = {one.module for one in vars(packages).values() if isinstance(one, Package)} | {"accelerate", "tokenizers"}
KEPT = {"spacy", "openai", "bm25s"}
NEEDS_TORCH = ("embedding", "nli", "trained", "perplexity", "text-baselines", "masked-reference", "dense")
NEEDS_NONE = ("lexical", "llm", "bm25", "llm-extractor")


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    folder = tmp_path_factory.mktemp("no-torch")
    (folder / "sitecustomize.py").write_text(HIDING.replace("{hidden}", repr(ADDED - KEPT)))
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def demo(hidden, tmp_path_factory):
    with running_demo(made_before(tmp_path_factory, "demo"), free_port(), **hidden) as demo:
        yield demo


def test_torch_is_hidden(demo, hidden):
    with pytest.raises(AssertionError, match="No module named 'torch'"):
        manage(demo.folder, "shell", "-v0", "-c", "import torch", **hidden)


def test_pages_say_which_checkers_need_torch(demo):
    opener, home = sign_in(demo, "researcher")
    assert "demo-stance" in home
    page = text_of(opener, f"{demo.address}/checkers/")
    rows = {name: row for name, row in re.findall(r'<tr id="([\w-]+)">(.*?)</tr>', page, re.DOTALL)}
    for name in NEEDS_TORCH:
        assert re.search(r"pip install [^<]*torch==", rows[name]), name
    for name in NEEDS_NONE:
        assert "torch==" not in rows[name], name
    runs = text_of(opener, f"{demo.address}/projects/demo-stance/runs/")
    assert "not installed here" in runs and "torch==" not in runs  # what administrators read
    assert re.search(r"pip install [^<]*torch==", text_of(opener, f"{demo.address}/projects/demo-stance/training/"))
    for address in ("agreement", "comparison", "reports", "items", "members", "exports"):
        text_of(opener, f"{demo.address}/projects/demo-stance/{address}/")


def test_workers_import_judge_and_report(demo, hidden):
    file = str(ROOT / "fixtures" / "demo" / "claims.tsv")
    manage(demo.folder, "import_dataset", file, "--format", "druid", "--dataset", "own", "--project", "own", **hidden)
    said = manage(demo.folder, "run_checker", "own", "--every", **hidden)
    assert re.search("embedding: not started\n.*torch==", said) and "lexical: started" in said
    manage(demo.folder, "retrieve", "own", "bm25", "--top", "3", **hidden)
    states = (
        "from annotation.models import Job; "
        "print(set(Job.objects.filter(project__slug='own').values_list('state', flat=True)))"
    )
    wait_until(
        lambda: manage(demo.folder, "shell", "-v0", "-c", states, **hidden).strip() == "{'done'}", 120, "all ran"
    )
    said = manage(demo.folder, "report", "own", "comparison", "--run", "lexical", **hidden)
    assert "Reference: 110 imported decisions" in said and re.search(r"units with a reference label +59\n", said)
    assert "Traceback" not in demo.said()


def test_a_checker_that_needs_it_is_refused_with_the_command(demo, hidden):
    said = manage(demo.folder, "shell", "-v0", "-c", REFUSAL, **hidden)
    assert said.startswith("embedding needs a package that is not installed: pip install torch==")


REFUSAL = """
from models_runtime import STANCE, load
from models_runtime.contracts import MissingPackageError
try:
    load("embedding", STANCE)
except MissingPackageError as error:
    print(error)
"""

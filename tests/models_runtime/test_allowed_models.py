"""Whoever starts a run names models that the site allows: by page, command and again in the worker; links, .., hub
names with revisions, sizes; and what is refused is not looked for."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.training import training
from annotation.models import CheckerRun, Job
from models_runtime import registry
from models_runtime.contracts import ModelError, ParameterError
from models_runtime.loading import allowed_models
from models_runtime.loading.allowed_models import Allowed, parse_models
from models_runtime.loading.models import find_folder, load_model
from tests import factories

from .tiny import voting_bert


@pytest.fixture(autouse=True)
def unrestricted_afterwards():
    before = allowed_models._allowed, allowed_models._most_bytes
    registry._cache.clear()
    yield
    allowed_models._allowed, allowed_models._most_bytes = before


@pytest.fixture
def models(tmp_path):
    """A folder of the operator's with one model, and the same model elsewhere."""
    folder = tmp_path / "models"
    folder.mkdir()
    voting_bert(folder / "good", [], {"1963": "entailment"}, ("contradiction", "entailment", "neutral"))
    shutil.copytree(folder / "good", tmp_path / "elsewhere")
    (folder / "link-out").symlink_to(tmp_path / "elsewhere")
    (folder / "link-in").symlink_to(folder / "good")
    (tmp_path / "link-from-outside").symlink_to(folder / "good")
    registry.restrict_models(parse_models(f"{folder}, somebody/fine, lab/*"))
    return folder


PATHS = {
    "good": True,
    "link-in": True,
    "good/../good": False,
    "../elsewhere": False,
    "link-out": False,
    "../models-too/good": False,
    "../link-from-outside": False,
    "good\0": False,
}


@pytest.mark.parametrize(("path", "is_allowed"), PATHS.items())
def test_a_folder_must_lie_in_one_of_the_sites_by_name_and_by_links(models, path, is_allowed):
    assert bool(allowed_models.problem_of(f"{models}/{path}")) != is_allowed


@pytest.mark.parametrize(
    ("name", "is_allowed"),
    [
        ("somebody/fine", True),
        ("somebody/fine@evil", False),
        ("somebody/other", False),
        ("lab/any.thing", True),
        ("lab/../somebody", False),
        ("lab", False),
        ("laboratory/x", False),
        ("good", False),
        ("~/models", False),
        ("json", False),
        (registry.get_info("nli").model, True),
        ("all-MiniLM-L6-v2", True),
    ],
)
def test_a_name_must_be_one_that_is_listed_or_that_assay_names(models, name, is_allowed):
    assert bool(allowed_models.problem_of(name)) != is_allowed


def test_by_default_there_is_what_assay_names_and_a_star_is_everything(tmp_path):
    registry.restrict_models(Allowed())
    assert allowed_models.problem_of("/") and allowed_models.problem_of("gpt2")
    named = {one.default for info in registry.list_infos() for one in info.parameters if one.kind == "model"}
    assert len(named) >= 4 and not any(map(allowed_models.problem_of, named))
    registry.restrict_models(parse_models("*"))
    assert not allowed_models.problem_of(str(tmp_path)) and not allowed_models.described()


def test_every_parameter_that_names_a_model_is_checked(models):
    """Those that are called or described as one, but for ids of trained checkers, which are looked up by hash."""
    for info in registry.list_infos():
        for parameter in info.parameters:
            named = any(word in parameter.name for word in ("model", "reranker", "embeddings"))
            if (named or "absolute path" in parameter.hint) and isinstance(parameter.default, str):
                is_hash = (info.slug, parameter.name) == ("trained", "model")
                assert parameter.kind == ("str" if is_hash else "model"), (info.slug, parameter.name)
                if not is_hash:
                    with pytest.raises(ParameterError, match="not one of the models that this site allows"):
                        registry.complete_parameters(info, {parameter.name: "/etc"})


@pytest.mark.parametrize("raw", ["../models", "/models/../etc", "a/b/c", "/m,,/n", "a b/c", "x/y@../z"])
def test_a_setting_that_cannot_be_meant_is_told(raw):
    with pytest.raises(ValueError, match=r"has|must"):
        parse_models(raw)


def test_a_model_that_is_too_large_is_not_loaded(models):
    registry.restrict_models(parse_models(str(models)), 1e-5)
    with pytest.raises(ModelError, match=r"has .* GB, and this site loads 1e-05 GB at most"):
        load_model("classification", str(models / "good"))


def test_a_model_that_is_too_large_is_not_fetched_and_a_revision_is_the_sites(monkeypatch, tmp_path):
    import huggingface_hub

    asked = []

    def info(self, name, *, revision, **options):
        asked.append((name, revision))
        files = [("model.safetensors", 3_000_000_000), ("pytorch_model.bin", 9_000_000_000), ("config.json", 100)]
        return SimpleNamespace(siblings=[SimpleNamespace(rfilename=name, size=size) for name, size in files])

    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **options: asked.append(options) or tmp_path)
    registry.restrict_models(parse_models("somebody/large@v2"), 2)
    with pytest.raises(ModelError, match="somebody/large has 3 GB, and this site loads 2 GB at most"):
        find_folder("somebody/large")
    assert asked == [("somebody/large", "v2")]
    registry.restrict_models(parse_models("somebody/large@v2"), 4)
    assert find_folder("somebody/large") == tmp_path and asked[-1]["revision"] == "v2"
    kept = tmp_path / "models--somebody--large" / "snapshots" / "v2"
    kept.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (kept / name).touch()
    assert find_folder("somebody/large") == kept


# ---- where a run is started, and in its worker ----


@pytest.fixture
def project(db):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 4)
    return factories.make_project(dataset)


def start_by_page(client, project, path) -> str:
    client.force_login(project.created_by)
    fields = {f"nli-{one.name}": one.default for one in registry.get_info("nli").parameters} | {"nli-model": path}
    answer = client.post(reverse("project_runs", args=[project.slug]), {"checker": "nli", **fields}, follow=True)
    return answer.content.decode()


def test_page_and_command_refuse_it_alike_whether_it_is_there_or_not(client, project, models, tmp_path):
    there, missing = tmp_path / "elsewhere", tmp_path / "nowhere"
    pages = [start_by_page(client, project, str(path)) for path in (there, missing)]
    said = []
    for path in (there, missing):
        with pytest.raises(CommandError) as refusal:
            call_command("run_checker", project.slug, "nli", param=[f"model={path}"])
        said.append(str(refusal.value).replace(path.name, "X"))
    assert all("is not one of the models that this site allows" in page for page in pages)
    assert said[0] == said[1] and not CheckerRun.objects.exists()
    with pytest.raises(training.TrainingError, match="not one of the models that this site allows"):
        training.TrainingRequest(representation=training.HIDDEN, hidden_model=str(there))
    assert "somebody/fine" in pages[0] and f"folders in {models}" in pages[0]  # what may be given instead


@pytest.mark.django_db(transaction=True)
def test_the_worker_checks_it_again(client, project, models, tmp_path):
    start_by_page(client, project, str(models / "good"))
    run = CheckerRun.objects.get()
    (models / "good").rename(tmp_path / "moved")
    (models / "good").symlink_to(tmp_path / "elsewhere")
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and "not one of the models that this site allows" in job.message
    (models / "good").unlink()
    (tmp_path / "moved").rename(models / "good")
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE

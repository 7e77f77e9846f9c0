"""A real vLLM on the CPU, in an environment of its own, that serves a tiny random Llama."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from models_runtime.llm import prompts
from tests.models_runtime.tiny import tiny_llama
from tests.suggesting.workers import kill_session

START_SECONDS = 300
MAX_TOKENS = 2048

# Prompts that the tokenizer is not made of.
NEWER = (
    "search_query",
    "extract-sub-sentences",
    "knowledge-question",
    "mask-references",
    "model-knowledge-question",
    "answer-confidence",
    *(f"answer{form}{source}" for form in ("", "-only", "-reasons") for source in ("", "-from-passages")),
)
OURS = ("ASSAY_", "DJANGO", "OMP_")


def python_of_vllm() -> Path:
    """The interpreter that has vLLM, or a skip that says how to get one."""
    # An environment's interpreter is a link, which must not be followed.
    python = Path(os.environ.get("VLLM_ENV") or "-", "bin", "python").absolute()
    if not python.is_file():
        pytest.skip("VLLM_ENV names no environment with vLLM (make test-vllm)")
    return python


def make_model(folder: Path) -> Path:
    """Its tokenizer knows the words of the prompts, so that these are not one token per letter. With other words a
    random model says other things, so texts that are new do not count among them."""
    names = [path.stem for path in sorted(prompts.FOLDER.glob("*.md")) if path.stem not in NEWER]
    texts = [prompts.shipped(name).instructions for name in names]
    return tiny_llama(folder, texts * 20, positions=MAX_TOKENS)


class VllmServer:
    def __init__(self, python: Path, model: Path, port: int, log: Path) -> None:
        self.python, self.model, self.port, self.log = python, model, port, log
        self.process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Returns when it answers."""
        arguments = ["--model", self.model, "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", self.port]
        # In 32 bits, so that probabilities can be compared; without white space, of which a random model writes much.
        arguments += ["--dtype", "float32", "--enforce-eager", "--max-model-len", MAX_TOKENS]
        arguments += ["--gpu-memory-utilization", 0.2, "--structured-outputs-config"]
        arguments += ['{"backend": "xgrammar", "disable_any_whitespace": true}']
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [self.python, "-m", "vllm.entrypoints.openai.api_server", *map(str, arguments)],
                # What is set for tests, one thread each included, is not for a server.
                env={
                    **{name: value for name, value in os.environ.items() if not name.startswith(OURS)},
                    "VLLM_CPU_KVCACHE_SPACE": "1",
                    "HF_HUB_OFFLINE": "1",
                    "VLLM_NO_USAGE_STATS": "1",
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.log.parent,
                start_new_session=True,
            )
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.5)
        said = self.log.read_text(errors="replace")[-4000:]
        self.kill()
        raise AssertionError(f"vLLM did not start\n{said}")

    def kill(self) -> None:
        """SIGKILL to it and to its engine."""
        if self.process:
            kill_session(self.process)
            self.process = None

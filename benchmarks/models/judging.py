"""A judge's units per second through a run, against its requests alone: how much is left of the server's throughput.

    python -m benchmarks.models.judging [--quick] [--pairs N] [--in-flight N] [--url http://... --model NAME]

The server is the one of `--url`, or else the first of ASSAY_LLM_ENDPOINTS. A first run is made and its requests are
noted; then the same requests are sent with as many at a time and nothing else (twice), and the run is made again in
between. The server has met all texts before each of these, so that what it remembers is the same for both.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.shared.project import SLUG, build

VARIABLE = "ASSAY_LLM_ENDPOINTS"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--url")
    parser.add_argument("--model")
    options = parser.parse_args()
    endpoints = json.loads(os.environ.get(VARIABLE) or "{}")
    if options.url:
        endpoints = {"main": {"url": options.url, "model": options.model}}
    if not endpoints:
        print(f"no server: name one with --url and --model, or set {VARIABLE}")
        return
    name, settings = next(iter(endpoints.items()))
    settings = {"max_in_flight": options.in_flight} | settings
    with TemporaryDirectory() as folder:
        os.environ |= build(Path(folder), options.pairs or (100 if options.quick else 1000))
        os.environ[VARIABLE] = json.dumps({name: settings})
        measure(settings["max_in_flight"])


def measure(in_flight: int) -> None:
    import django

    django.setup()
    from annotation.models import Project
    from models_runtime.llm.client import LlmClient

    project, sent = Project.objects.get(slug=SLUG), []
    chat = LlmClient.chat

    def noting(client, messages, **options):
        sent.append((client, messages, options))
        return chat(client, messages, **options)

    LlmClient.chat = noting
    first = seconds_of_run(project)
    LlmClient.chat = chat
    requests = list(sent)
    alone = [seconds_alone(requests, in_flight)]
    again = seconds_of_run(project)
    alone.append(seconds_alone(requests, in_flight))
    n, mean = len(requests), sum(alone) / 2
    print(f"{n} requests, {in_flight} at a time")
    print(f"requests alone    {n / alone[0]:8.1f} and {n / alone[1]:.1f} a second")
    print(f"a run             {n / again:8.1f} a second ({n / first:.1f} the first time)")
    print(f"of the server's own throughput {100 * mean / again:.0f} %")


def seconds_of_run(project) -> float:
    from annotation.jobs import lifecycle
    from annotation.machines.runs import suggesting
    from annotation.models import Job

    run = suggesting.start_run(project, project.created_by, "llm", again=True, wake_workers=False)
    started = time.perf_counter()
    while lifecycle.work_on_beside(run.job_id):
        pass
    seconds = time.perf_counter() - started
    job = Job.objects.get(pk=run.job_id)
    assert job.state == Job.State.DONE and not job.result["failed"], (job.state, job.message, job.result)
    return seconds


def seconds_alone(requests: list, in_flight: int) -> float:
    """The same bodies as bytes over connections that stay open, and no answer read but to its end."""
    import httpx2

    client, _, _ = requests[0]
    bodies = []
    for _, messages, options in requests:
        taken, _ = client._as_taken({name: one for name, one in options.items() if name != "even_if_away"})
        extra = taken.pop("extra_body", {})
        bodies.append(json.dumps({"model": client.endpoint.model, "messages": messages, **taken, **extra}).encode())
    key = os.environ.get(client.endpoint.api_key_env, "none")
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    with httpx2.Client(timeout=600, headers=headers, limits=httpx2.Limits(max_connections=None)) as http:
        url = f"{client.endpoint.url}/chat/completions"

        def send(body: bytes) -> None:
            assert http.post(url, content=body).status_code == 200

        started = time.perf_counter()
        with ThreadPoolExecutor(in_flight) as pool:
            list(pool.map(send, bodies))
        return time.perf_counter() - started


if __name__ == "__main__":
    main()

"""Kill everything, again and again, while people label and jobs run: is anything that was acknowledged lost?

    python -m benchmarks.reliability [--kills 30] [--broker redis|rabbitmq] [--annotators 8] [--seed 0] [--json FILE]

Starts an installation of its own on loopback (PostgreSQL, Redis, RabbitMQ, gunicorn and two Celery workers), with a
study that every annotator labels over HTTP, three answers per item, some edited, some sent again without having heard
the answer. An import, a checker's run, an export and a release are always under way. Each service is killed (SIGKILL,
with all its processes) in turn and started again. Afterwards what was acknowledged is compared with what is stored.
Exits with 1 if an answer is lost or changed, an item has too many, or a job is stuck, failed or half done; jobs that
five deaths in one part have ended (`given_up`) are counted apart, since that is the rule and "Try again" goes on.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.reliability import services
from benchmarks.reliability.people import Record, annotate, keep_going, works
from benchmarks.shared.made_up import write_druid_file
from benchmarks.shared.processes import ROOT, environment
from tests.suggesting.brokers import command_of

MODULE = "benchmarks.reliability.studies"
# Those that must be nothing at the end.
FAULTS = (
    *("lost", "changed", "beyond_k", "off_plan", "same_person_twice", "unknown", "stuck", "failed"),
    *("half_runs", "half_imports", "broken_files", "refused", "ended_by_themselves"),
)
DRAIN_SECONDS = 240


def missing(broker: str) -> str:
    """What this machine lacks for it."""
    names = ["Redis", *(["RabbitMQ"] if broker == "rabbitmq" else [])]
    lacking = [name for name in names if command_of(name) is None]
    return ", ".join(lacking + ([] if services.postgresql_bin() else ["PostgreSQL"]))


def ask(env: dict[str, str], *arguments: str) -> object:
    done = subprocess.run(
        [sys.executable, "-m", MODULE, *arguments], cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout) if done.stdout.strip() else None


def campaign(options, folder: Path) -> dict:
    chance, record = random.Random(options.seed), Record()
    started: list = []
    for name in ("redis", "rabbitmq", "data"):
        (folder / name).mkdir()
    database, address = services.postgresql(folder)
    redis = services.Broker("Redis", folder / "redis")
    broker = redis if options.broker == "redis" else services.Broker("RabbitMQ", folder / "rabbitmq")
    env = environment(folder / "data", address) | {
        "CELERY_BROKER_URL": broker.url,
        "ASSAY_CACHE_URL": f"redis://127.0.0.1:{redis.port}/1",
        "ASSAY_CHUNK_LEASE_SECONDS": "4",
        "ASSAY_SWEEP_SECONDS": "1",
        "ASSAY_CHUNK_RETRY_SECONDS": "1",
        "ASSAY_TRUSTED_PROXIES": "0",
        "WEB_CONCURRENCY": "2",
    }
    try:
        for service in (database, redis, *([broker] if broker is not redis else [])):
            started.append(service)
            service.start()
        ask(env, "prepare", str(folder), str(options.items), str(options.annotators))
        study = json.loads((folder / "study.json").read_text())
        site, port = services.web(env, folder)
        workers = [services.worker(name, env, folder) for name in services.WORKERS]
        for service in (site, *workers):
            started.append(service)
            service.start()
        targets = list(started)

        def file_of(number: int) -> bytes:
            path = write_druid_file(folder / "import.jsonl", options.pairs, seed=number)
            return path.read_bytes()

        people = [
            threading.Thread(target=annotate, args=(port, one, options.seed + n, record, options.pause), daemon=True)
            for n, one in enumerate(study["sessions"])
        ]
        beside = [
            threading.Thread(target=keep_going, args=(port, study["token"], what, start, record), daemon=True)
            for what, start in works(file_of).items()
        ]
        for thread in (*people, *beside):
            thread.start()
        killed, ended, seconds = kill_in_turn(targets, options, chance)
        record.ending.set()
        for thread in (*people, *beside):
            thread.join(60)
        (folder / "record.json").write_text(json.dumps(record.as_json()))
        end = time.monotonic() + DRAIN_SECONDS
        while ask(env, "unfinished", str(folder)) and time.monotonic() < end:
            time.sleep(2.0)
        drained = time.monotonic() - (end - DRAIN_SECONDS)
        ended += [service.name for service in targets if service.has_ended()]
        found = ask(env, "check", str(folder))
        return {
            "kills": sum(killed.values()),
            "by_service": killed,
            "minutes": round(seconds / 60, 1),
            "seconds_until_all_jobs_were_done": round(drained),
            "still_waiting_threads": sum(thread.is_alive() for thread in (*people, *beside)),
            "ended_by_themselves": ended,
            **found,
        }
    finally:
        for service in reversed(started):
            service.kill()


def kill_in_turn(targets: list, options, chance: random.Random) -> tuple[dict[str, int], list[str], float]:
    """Each target once per round, in an order that changes: how often each was killed, what ended unasked, seconds."""
    killed, ended, round_of, begun = dict.fromkeys((one.name for one in targets), 0), [], [], time.monotonic()
    for number in range(options.kills):
        if options.minutes and time.monotonic() - begun > 60 * options.minutes:
            break
        if not round_of:
            round_of = chance.sample(targets, len(targets))
        time.sleep(chance.uniform(0.3, 1.0) * options.gap)
        for one in targets:
            if one.has_ended():
                ended.append(one.name)
                one.start()
        target = round_of.pop()
        target.kill()
        time.sleep(chance.choice((0.0, 0.2, 1.5)))
        target.start()
        killed[target.name] += 1
        print(f"\r{number + 1} of {options.kills} killed, last {target.name:16}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return killed, ended, time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(prog="reliability", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=0, help="end after so many, however many were killed")
    parser.add_argument("--broker", choices=("redis", "rabbitmq"), default="redis")
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--items", type=int, default=0, help="in the study; as many as the kills need by default")
    parser.add_argument("--pairs", type=int, default=2000, help="in each import")
    parser.add_argument("--pause", type=float, default=0.7, help="seconds between an annotator's answers, on average")
    parser.add_argument("--gap", type=float, default=4.0, help="the most seconds between two kills")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    options.items = options.items or max(300, 16 * options.kills)
    if lacking := missing(options.broker):
        print(f"Not installed here: {lacking}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="assay-kills-", ignore_cleanup_errors=True) as temporary:
        found = campaign(options, Path(temporary))
    print(json.dumps(found, indent=1))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return int(any(found[name] for name in FAULTS))


if __name__ == "__main__":
    sys.exit(main())

"""What a researcher's script does with Assay: one method each."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import httpx

from assay_client.transfer import AssayError, Form, Transfer

if TYPE_CHECKING:
    import pandas

LINES = "application/x-ndjson"
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".jsonl": LINES,
    ".ndjson": LINES,
    ".zip": "application/zip",
}
SPOOLED = 16 * 1024 * 1024
LONGEST_WAIT = 2.0
Row = Mapping[str, Any]


class JobFailed(AssayError):
    """A job that failed or was cancelled; `errors` are its bad rows, with their lines."""

    def __init__(self, job: dict[str, Any]) -> None:
        super().__init__(0, {"detail": f"{job['kind']}: {job['message'] or job['state']}"})
        self.job, self.errors = job, job["result"].get("errors", [])


class Assay:
    """An Assay at an address, such as https://assay.example.org, with a token of your account's page.

    `progress` shows bars on the terminal; by default where there is one. `transport` and `sleep` are for tests.
    """

    def __init__(self, address: str, token: str, **options: Any) -> None:
        self.transfer = Transfer(address, token, **options)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Any address below /api/v1/."""
        return self.transfer.ask("GET", path, params=query).json()

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, page by page."""
        query = {"page_size": 1000} | query
        while True:
            page = self.get(path, **query)
            yield from page["results"]
            if not page["next"]:
                return
            query["cursor"] = httpx.URL(page["next"]).params["cursor"]

    def post(self, path: str, body: Row | None = None, **query: Any) -> dict[str, Any]:
        return self.transfer.ask("POST", path, json=dict(body or {}), params=query).json()

    def send(self, path: str, body: IO[bytes], media_type: str, **query: Any) -> dict[str, Any]:
        """Send a file, wait for its job, and give the job's result; JobFailed where nothing was stored."""
        answer = self.transfer.ask(
            "POST", path, body=body, headers={"Content-Type": media_type}, params=_as_texts(query)
        )
        return self.wait(answer.json()["uuid"])["result"]

    def wait(self, job: str) -> dict[str, Any]:
        """The job, once it is done."""
        seconds = 0.1
        with self.transfer.bar("Waiting", 0) as bar:
            while True:
                found = self.get(f"jobs/{job}/")
                bar.total, bar.n = found["progress_total"] or None, found["progress_done"]
                bar.set_description(found["kind"])
                if found["state"] == "done":
                    return found
                if found["state"] in ("failed", "cancelled"):
                    raise JobFailed(found)
                self.transfer.sleep(seconds)
                seconds = min(seconds * 1.5, LONGEST_WAIT)

    def start(self, path: str, asked: Row, *, wait: bool = True) -> dict[str, Any]:
        """POST to a list of runs or collections; what was started, as it is once its job is done."""
        answer = self.transfer.ask("POST", path, json=dict(asked))
        made: dict[str, Any] = answer.json()
        if not wait:
            return made
        self.wait(made["job"])
        return self.get(answer.headers["Location"].removeprefix("/api/v1/"))

    def publish(self, kind: str, uuid: str, **choices: Any) -> dict[str, Any]:
        """Make what was found, written or collected content of the data set; counts of what is new. `kind` is
        retrievals, generations, extractions or claim-collections."""
        return self.wait(self.post(f"{kind}/{uuid}/publish/", choices)["uuid"])["result"]

    def download(self, path: str, to: str | Path) -> Path:
        """A file of the API. What is at `to` is replaced once all of it has come."""
        target = Path(to)
        partial = target.with_name(f"{target.name}.part")
        try:
            with partial.open("wb+") as file:
                self.transfer.download(path, file)
            return partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)

    # ---- data sets and projects ----

    def create_dataset(self, slug: str, title: str = "", description: str = "") -> dict[str, Any]:
        return self.post("datasets/", {"slug": slug, "title": title or slug, "description": description})

    def create_project(self, dataset: str, title: str, task_type: str, **settings: Any) -> Project:
        """A project on a data set that is there, once its items are made."""
        asked = {"dataset": dataset, "title": title, "task_type": task_type} | settings
        answer = self.transfer.ask("POST", "projects/", json=asked)
        self.wait(answer.headers["X-Job"])
        return self.project(answer.json()["slug"])

    def collect_claims(self, dataset: str, *, suggested: bool = True, **asked: Any) -> dict[str, Any]:
        """Collect claims, from `reviews`, a `piece_set` or a `provider`, and map verdicts as is suggested. What is left
        unmapped is in `unmapped`; `claim-collections/UUID/choice/` takes the rest of the choice, `publish` follows."""
        found = self.start(f"datasets/{dataset}/claim-collections/", asked)
        return self.post(f"claim-collections/{found['uuid']}/choice/", {"suggested": suggested})

    def content(self, dataset: str, kind: str, **filters: Any) -> Iterator[dict[str, Any]]:
        """Rows of one kind (claim, evidence, response, triplet, ...): `key`, `columns`, `parents`."""
        return self.rows(f"datasets/{dataset}/content/", kind=kind, **filters)

    def project(self, slug: str) -> Project:
        return Project(self, slug)

    def push_table(
        self,
        dataset: str,
        table: str | Path | pandas.DataFrame,
        mapping: Mapping[str, str],
        *,
        project: str | None = None,
        format: str = "ratings",
        **choices: Any,
    ) -> dict[str, Any]:
        """Import a table into a data set and, where a project is named, its labels and scores into that; it is made
        where there is none. `mapping` is role -> column, as docs/formats.md has them; `choices` are further
        parameters of the import."""
        if isinstance(table, str | Path):
            path = Path(table)
            kind, name = MEDIA_TYPES.get(path.suffix.lower(), "application/octet-stream"), path.name
            body: IO[bytes] = path.open("rb")
        else:
            kind, name, body = "text/csv", "table.csv", BytesIO(table.to_csv(index=False).encode())
        with body:
            choices |= {"mapping": dict(mapping), "project": project, "format": format}
            form = Form(_as_texts(choices), name, kind)  # a server refuses an address with a long mapping
            answer = self.transfer.ask("POST", f"datasets/{dataset}/imports/", body=body, form=form)
            return self.wait(answer.json()["uuid"])["result"]


class Project:
    def __init__(self, assay: Assay, slug: str) -> None:
        self.assay, self.slug = assay, slug

    @property
    def address(self) -> str:
        return f"projects/{self.slug}/"

    def describe(self) -> dict[str, Any]:
        """With its questions and their labels."""
        return self.assay.get(self.address)

    def units(self) -> Iterator[dict[str, Any]]:
        """What is judged: `unit` is its key, `title` and `text` its words, `input` what Assay's checkers are given."""
        return self.assay.rows(f"{self.address}units/")

    def annotations(self, **filters: Any) -> Iterator[dict[str, Any]]:
        return self.assay.rows(f"{self.address}annotations/", **filters)

    def append(self, rows: Iterable[Row], **choices: Any) -> dict[str, Any]:
        """Add content, in Assay's content format, and make the items of it. What is there already stays."""
        return self._send("items/", rows, **choices)

    def upload_annotations(self, rows: Iterable[Row], **choices: Any) -> dict[str, Any]:
        """Answers of raters elsewhere, as `annotations.jsonl` of an export has them."""
        return self._send("labels/", rows, **choices)

    def upload_labels(self, checker: str, rows: Iterable[Row], **choices: Any) -> str:
        """Labels of a model of yours: `unit`, `dimension`, `label`, maybe `probability`. The UUID of its run.

        `choices`: version, parameters (a dict), existing (refuse, new, add), on_error (refuse, skip)."""
        return self._send("suggestions/", rows, checker=checker, **choices)["run"]

    def upload_scores(self, checker: str, rows: Iterable[Row], **choices: Any) -> str:
        """Numbers of a model of yours: `unit`, `value`, maybe `name`. The UUID of its run."""
        return self._send("scores/", rows, checker=checker, **choices)["run"]

    def _send(self, what: str, rows: Iterable[Row], **query: Any) -> dict[str, Any]:
        with tempfile.SpooledTemporaryFile(SPOOLED) as body:
            for row in rows:
                body.write(json.dumps(dict(row), ensure_ascii=False, allow_nan=False).encode() + b"\n")
            return self.assay.send(self.address + what, body, LINES, **query)

    def start_run(self, checker: str, parameters: Row | None = None, *, wait: bool = True, **choices: Any) -> str:
        """Run one of Assay's checkers over the units; the UUID of the run."""
        asked = {"checker": checker, "parameters": dict(parameters or {})} | choices
        return self.start("runs", wait=wait, **asked)["uuid"]

    def start(self, kind: str, *, wait: bool = True, **asked: Any) -> dict[str, Any]:
        """Start a run and give it as it is once it is done. `kind` is runs, retrievals, generations or extractions;
        `asked` is the body, as docs/api.md has it."""
        return self.assay.start(f"{self.address}{kind}/", asked, wait=wait)

    def estimate(self, kind: str, **asked: Any) -> dict[str, Any]:
        """About what the run would cost, in tokens and by endpoint in money."""
        return self.assay.post(f"{self.address}{kind}/estimate/", asked)

    def show(self, run: str) -> None:
        """Let annotators see this run's labels, under the project's policy."""
        self.assay.post(f"runs/{run}/show/")

    def report(self, name: str, **options: Any) -> Report:
        """A report of the labels as they are now, computed if need be."""
        path = f"{self.address}reports/{name}/"
        found = self.assay.post(path, **options)
        while found["state"] == "computing":
            self.assay.wait(found["job"])
            found = self.assay.get(path, **options)
        if not found["result"]:
            raise AssayError(0, {"detail": found["message"] or f"{name} has no result"})
        return Report(found)

    def agreement(self, **options: Any) -> pandas.DataFrame:
        """Every coefficient of every question, with its interval; needs pandas. `pairable` counts the units with labels
        of two raters or more; `undefined` says why there is no estimate."""
        import pandas

        names = {"name": "coefficient", "estimate": "estimate", "low": "low", "high": "high"}
        names |= {"n_units": "units", "n_pairable": "pairable", "n_labels": "labels", "undefined": "undefined"}
        rows = [
            {"question": one["dimension"]} | {title: figure.get(name) for name, title in names.items()}
            for one in self.report("agreement", **{"all": 1} | options).result["dimensions"]
            for figure in one["figures"]
        ]
        return pandas.DataFrame(rows)

    def release(self, note: str = "") -> int:
        """Freeze the labels; the release's number."""
        made = self.assay.post(f"{self.address}releases/", {"note": note})
        self.assay.wait(made["job"])
        return made["number"]

    def download(self, release: int, to: str | Path) -> Path:
        """The release's files as a zip. What is at `to` is replaced once all of it has come."""
        return self.assay.download(f"{self.address}releases/{release}/file/", to)

    def export(self, folder: str | Path, kinds: Sequence[str] = ()) -> list[Path]:
        """Write the project's content and labels to a folder, in the layouts named (all that there are, by default)."""
        job = self.assay.post(f"{self.address}exports/", {"kinds": list(kinds)})
        self.assay.wait(job["uuid"])
        made = next(
            one for one in self.assay.rows(f"{self.address}exports/", sort="-created") if one["uuid"] == job["uuid"]
        )
        Path(folder).mkdir(parents=True, exist_ok=True)
        return [self.assay.download(f"files/{one['uuid']}/", Path(folder) / one["name"]) for one in made["files"]]

    def train(self, **choices: Any) -> str:
        """Train a checker on the project's labels and let it judge all units; the UUID of its run."""
        training = self.assay.post(f"{self.address}trainings/", choices)
        self.assay.wait(training["job"])
        model = self.assay.get(f"trainings/{training['uuid']}/")["model"]
        return self.start_run("trained", {"model": model})

    def publish_guidelines(self, markdown: str) -> int:
        """Put the text in force; the number of its version."""
        return self.assay.post(f"{self.address}guidelines/", {"markdown": markdown})["version"]

    def invite(self, email: str, *roles: str, group: str = "") -> str:
        """Invite a person, as an annotator if no role is named. The link, which is mailed, too, where it can be."""
        asked = {"email": email, "roles": list(roles) or ["annotator"]} | ({"group": group} if group else {})
        return self.assay.post(f"{self.address}invitations/", asked)["link"]


class Report:
    """`result` is all of it; `tables` are what its page shows."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found: dict[str, Any] = found
        self.result: dict[str, Any] = found["result"]
        self.tables: dict[str, dict[str, Any]] = {table["name"]: table for table in found["tables"]}

    def rows(self, table: str = "") -> list[dict[str, Any]]:
        """The rows of a table, the first where none is named."""
        found = self.tables[table or next(iter(self.tables))]
        return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]

    def frame(self, table: str = "") -> pandas.DataFrame:
        """The same as a DataFrame; needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows(table))


def _as_texts(choices: Mapping[str, Any]) -> dict[str, str]:
    return {name: _as_text(value) for name, value in choices.items() if value is not None}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)

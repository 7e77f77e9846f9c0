"""The judged file as a project of an Assay: people's labels, and each judge as a checker that is compared with them."""

from __future__ import annotations

import argparse
import os
import re

from analysis.judge.table import TableProblem

TOKEN = "ASSAY_TOKEN"
QUESTION = "answer"


def save(options: argparse.Namespace) -> str:
    """Import the file through the API. Returns the project's address; TableProblem says why it could not be saved."""
    try:
        import assay_client
    except ImportError:
        raise TableProblem("--save needs Assay's client: pip install ./clients/python") from None
    if not options.text:
        raise TableProblem("--save needs --text COLUMN: what was judged")
    if not (token := os.environ.get(TOKEN)):
        raise TableProblem(f"--save needs a token of your account's page in the variable {TOKEN}")
    slug = options.project or re.sub(r"[^a-z0-9]+", "-", options.file.stem.lower()).strip("-") or "judged"
    try:
        assay = assay_client.Assay(options.save, token)
        if not any(one["slug"] == slug for one in assay.rows("datasets/")):
            assay.create_dataset(slug, options.file.stem)
        assay.push_table(slug, options.file, mapping_of(options), project=slug)
    except assay_client.JobFailed as error:
        first = [f"line {row['line']}: {row['column']} {row['reason']}" for row in error.errors[:3]]
        raise TableProblem("; ".join([f"Nothing was saved: {error}", *first])) from None
    except assay_client.AssayError as error:
        raise TableProblem(f"Nothing was saved: {error}") from None
    return f"{options.save.rstrip('/')}/projects/{slug}/"


def mapping_of(options: argparse.Namespace) -> dict[str, str]:
    """Role -> column, as tables of ratings have them (docs/formats.md)."""
    people = {f"label/{QUESTION}/{_part(column)}": column for column in options.human}
    judges = {f"prediction/{_part(column)}/{QUESTION}": column for column in options.judge}
    return {"text": options.text} | people | judges


def _part(name: str) -> str:
    return name.replace("/", "-")

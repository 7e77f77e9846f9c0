"""The data set card: README.md with the metadata that the Hugging Face hub reads, and numbers from the data."""

from __future__ import annotations

import yaml

from analysis.releases.cards.citation import authors_of, title_of
from analysis.releases.cards.facts import is_slot
from analysis.releases.cards.tables import LABELS
from analysis.reports.words.numbers import n_of
from analysis.rules.kinds import KINDS
from analysis.sources.outline import RULE_SET

# SPDX ids that the hub knows by the same name in lower case; others are named in addition to "other".
HUB_LICENSES = {
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0"),
    *("cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0"),
    *("cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cdla-permissive-1.0"),
    *("cdla-permissive-2.0", "cdla-sharing-1.0", "bsd-2-clause", "bsd-3-clause", "unlicense"),
}
HUB_NAMES = {"odc-by-1.0": "odc-by", "odbl-1.0": "odbl", "pddl-1.0": "pddl"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGER = "1M<n<10M"
PREFILL = {
    "off": "Annotators saw no suggestions of checkers.",
    "shown": "Annotators saw a checker's suggestions with the empty form.",
    "after": "Annotators saw a checker's suggestions after their first answer, which is kept.",
    "drawn": "Whether annotators saw a checker's suggestions was drawn for each item and annotator.",
}
METHODS = {
    "adjudicated": "decided by a person who looked at the annotators' answers",
    "imported": "decided in the source of the imported data",
    "rule": "decided by a rule",
    "majority": "the most frequent label of the annotators; none at a tie",
}


def head_of(card: dict, facts: dict, tables: dict, has_spans: bool, default: str = LABELS) -> str:
    """What the hub reads at the head of the card. `default` is the table that is loaded where none is named."""
    found: dict = {"pretty_name": card["title"]} if card.get("title") else {}
    if card.get("languages"):
        found["language"] = card["languages"].split(", ")
    found |= _license(card.get("license", ""))
    found["task_categories"] = ["text-classification", *(["token-classification"] if has_spans else [])]
    found["size_categories"] = [next((name for limit, name in SIZES if facts["units"] < limit), LARGER)]
    found["configs"] = [
        {
            "config_name": name,
            **({"default": True} if name == default else {}),
            "data_files": [{"split": split, "path": path} for split, path in table["files"].items()],
        }
        for name, table in tables.items()
    ]
    return yaml.safe_dump(found, allow_unicode=True, sort_keys=False)


def _license(spdx: str) -> dict:
    if not spdx:
        return {"license": "unknown"}
    low = spdx.lower()
    if low in HUB_LICENSES or low in HUB_NAMES:
        return {"license": HUB_NAMES.get(low, low)}
    return {"license": "other", "license_name": low.replace(" ", "-")}


def readme_of(manifest: dict, facts: dict, tables: dict, changes: list[dict], has_spans: bool) -> str:
    release, settings = manifest["release"], manifest["settings"]
    card = settings.get("card", {})
    title = title_of(manifest)
    head = head_of(card | {"title": title}, facts, tables, has_spans)
    parts = [f"---\n{head}---\n", f"# {title}\n"]
    if release.get("release_version"):
        parts.append(f"Version {release['release_version']}, labels of {release['moment'][:10]}.\n")
    if settings.get("description"):
        parts.append(_plain(settings["description"]))
    parts += [section("Purpose", card.get("motivation"))]
    parts += [section("Licence", card.get("license") or "None yet: ask the authors before you use the data.")]
    parts += [section("Authors", "\n".join(f"- {name}" for name in authors_of(card)) or None, is_plain=False)]
    parts += [section("Contact", " ".join(filter(None, (card.get("contact"), card.get("homepage")))) or None)]
    parts += [_contents(facts, tables), _questions(facts), _agreement(facts), _people(facts)]
    parts += [section("How texts and annotators were chosen", card.get("collection"))]
    parts += [_labelling(manifest, facts), section("Ethics and personal data", card.get("ethics"))]
    parts += [section("Known limits", _limits(card, facts, release.get("filters", {})), is_plain=False)]
    parts += [again(release), changes_section(changes)]
    return "\n".join(parts)


def _plain(text: str) -> str:
    """People's words as paragraphs: what would be HTML or the end of a section is written out."""
    lines = [line.replace("<", "&lt;") for line in text.splitlines()]
    return "\n".join(f"\\{line}" if line.lstrip().startswith(("#", "---", "===")) else line for line in lines) + "\n"


def section(title: str, text: str | None, *, is_plain: bool = True) -> str:
    body = "Not stated." if text is None else _plain(text).rstrip("\n") if is_plain else text
    return f"## {title}\n\n{body}\n"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def table_of(head: tuple[str, ...], rows: list[tuple]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in lines)


def _contents(facts: dict, tables: dict) -> str:
    rows = [
        (f"`{name}`", split, f"{table['rows'][split]:,}", f"`{path}`")
        for name, table in tables.items()
        for split, path in table["files"].items()
    ]
    words = (
        f"{facts['units']:,} units in {facts['items']:,} items and {facts['clusters']:,} claims, questions or other "
        f"groups; {facts['answers']:,} answers with {facts['judgements']:,} judgements.\n\n"
        "`labels` has a row per unit with one label per question; `judgements` a row per unit, question and annotator."
    )
    read = (
        '```python\nfrom datasets import load_dataset\n\nlabels = load_dataset("FOLDER")\n'
        'judgements = load_dataset("FOLDER", "judgements")\n```'
    )
    columns = [
        f"`{name}`:\n\n" + table_of(("Column", "Type", "What it is"), [tuple(column) for column in table["columns"]])
        for name, table in tables.items()
    ]
    files = table_of(("Table", "Split", "Rows", "File"), rows)
    return "\n\n".join(["## What it holds", words, files, read, "### Columns", *columns]) + "\n"


def _questions(facts: dict) -> str:
    parts = ["## Labels"]
    for question in facts["questions"]:
        total = question["labelled"]
        parts.append(f"### {_cell(question['title'])}")
        if question["labels"]:
            rows = [(f"`{label}`", f"{n:,}", _percent(n, total)) for label, n in question["labels"].items()]
            parts.append(table_of(("Label", "Units", "Share"), rows))
        parts.append(
            f"{total:,} units have a label; {question['undecided']:,} have none although the question was asked of "
            f"them: {question['divided']:,} are tied, and nobody judged {question['not_judged']:,}."
        )
    return "\n\n".join(parts) + "\n"


def _percent(n: int, total: int) -> str:
    return f"{100 * n / total:.1f} %" if total else "-"


def _agreement(facts: dict) -> str:
    if not facts["agreement"]:
        return section("Agreement", "The answers have no labels to compare.")
    rows = [
        (question["title"], figure["title"], written(figure), f"{question['units']:,}")
        for question in facts["agreement"]
        for figure in question["figures"]
    ]
    table = table_of(("Question", "Figure", "Estimate [95 % interval]", "Units with two labels or more"), rows)
    return f"## Agreement\n\nBetween annotators, before anybody decided.\n\n{table}\n"


def written(figure: dict) -> str:
    if figure["estimate"] is None:
        return f"undefined ({figure['undefined']})" if figure["undefined"] else "undefined"
    if figure["low"] is None:
        return f"{figure['estimate']:.3f}"
    return f"{figure['estimate']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"


def _people(facts: dict) -> str:
    raters = facts["raters"]
    slots = sum(map(is_slot, raters))
    counted = n_of(len(raters) - slots, "people") + (f" and {n_of(slots, 'exchangeable places')}" if slots else "")
    span = (
        "" if facts["first_answer"] is None else f", from {facts['first_answer'][:10]} to {facts['last_answer'][:10]}"
    )
    words = f"{counted} gave {n_of(facts['answers'], 'answers')} in {facts['hours']:,.2f} hours of activity{span}."
    if facts["answers_without_time"]:
        words += f" Of {facts['answers_without_time']:,} answers the time is not known."
    rows = [(f"`{one['rater']}`", one["kind"], f"{one['answers']:,}", f"{one['hours']:.2f}") for one in raters[:50]]
    more = f"\n\nand {len(raters) - 50:,} more" if len(raters) > 50 else ""
    return f"## Annotators\n\n{words}\n\n{table_of(('Pseudonym', 'Kind', 'Answers', 'Hours'), rows)}{more}\n"


def _labelling(manifest: dict, facts: dict) -> str:
    release, settings = manifest["release"], manifest["settings"]
    lines = [f"Planned judgements per item: {release['overlap']}"]
    if release["multiple_share"] < 1 and release["overlap"] > 1:
        others = min(release["overlap"], settings.get("other_overlap", 1))
        lines[0] += f", for a random {release['multiple_share']:.0%} of the items; {others} for the others"
    if facts["further"]:
        lines.append(
            f"{n_of(facts['further'], 'answers')} were asked for because the answers of an item differed; figures of "
            "agreement leave them out."
        )
    lines.append(
        f"{PREFILL.get(release['prefill'], release['prefill'])} {facts['suggestion_shown']:,} answers were given with "
        "a suggestion in view."
    )
    if facts["labels_seen"]:
        lines.append(f"{facts['labels_seen']:,} answers were given after their author had been served others' labels.")
    texts = [text for text in settings.get("guidelines", []) if text]
    lines.append(
        f"Guidelines: {n_of(len(texts), 'versions')}, in `manifest.json`."
        if texts
        else "There were no written guidelines."
    )
    if chosen := manifest.get("decisions"):
        lines.append(f"The label of a unit comes from the decisions `{chosen}`.")
    for method, n in facts["decided_by"].items():
        lines.append(f"{n_of(n, 'labels')} by `{method}`: {METHODS.get(method) or _of_rule(method, settings)}.")
    if facts["checkers"]:
        named = ", ".join(sorted({f"{one['checker']} {one['version']}" for one in facts["checkers"]}))
        lines.append(f"Automatic checkers whose answers are in the files: {named}.")
    return "## How it was labelled\n\n" + "\n".join(f"- {_cell(line)}" for line in lines) + "\n"


def _of_rule(method: str, settings: dict) -> str:
    """How a rule decides, as far as it is known."""
    runs = [run for run in settings.get("rules", []) if method == f"{RULE_SET}{run['name']}"]
    newest = max(runs, key=lambda run: run["version"], default={})
    kind = KINDS.get(newest.get("kind"))
    if kind is None:
        return METHODS["rule"]
    values = {one.title.lower(): newest["parameters"].get(one.name, one.default) for one in kind.parameters}
    parameters = "; ".join(f"{title} {value}" for title, value in values.items() if value != "")
    return f"version {newest['version']} of a rule, {kind.title}: {parameters}"


def _limits(card: dict, facts: dict, filters: dict) -> str:
    lines = []
    if filters:
        listed_filters = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in sorted(filters.items()))
        lines.append(f"- Only a part of the labels is here: {_cell(listed_filters)}.")
    if facts["undecided"]:
        lines.append(f"- {facts['undecided']:,} labels are missing although their question was asked.")
    if len([one for one in facts["raters"] if not is_slot(one)]) < 2 and not any(map(is_slot, facts["raters"])):
        lines.append("- Fewer than two people labelled, so agreement is not known.")
    if facts["not_answered"]:
        lines.append(f"- Nobody answered: {', '.join(map(_cell, facts['not_answered']))}.")
    words = _plain(card["limits"]).rstrip("\n") if card.get("limits") else ""
    return "\n\n".join(filter(None, ("\n".join(lines), words))) or "None stated."


def again(release: dict, part: str = "") -> str:
    """`part` is the folder that figures are computed from, where there are several."""
    folder = f"FOLDER/{part}" if part else "FOLDER"
    return (
        "## Check and compute again\n\n"
        f"SHA-256 of the data: `{release['sha256']}`\n\n"
        f"```sh\nsha256sum --check SHA256SUMS\n```\n\nWith {release['software']}, every figure of this card, and any "
        f"report on the labels:\n\n```sh\npython manage.py release --figures {folder}\n"
        f"python manage.py report {folder} agreement --from-files\n```\n"
    )


def changes_section(changes: list[dict]) -> str:
    lines = []
    for one in changes:
        name = f"**{_cell(one['version'] or one['number'])}**"
        note = _cell(one["note"]) if one["note"] else "No note."
        lines.append(f"- {name} ({one['date']}): {note}")
    return "## Changes\n\n" + "\n".join(lines) + "\n" if lines else ""

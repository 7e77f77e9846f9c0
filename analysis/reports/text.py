"""Reports as plain text tables, for the command line."""

from __future__ import annotations


def as_text(result: dict) -> str:
    """The report's main tables. Unknown reports raise KeyError."""
    lines = [f"{result['report']} of {result['project']} ({result['task_type']})"]
    lines += {"agreement": _agreement, "comparison": _comparison, "rates": _rates}[result["report"]](result)
    return "\n".join(lines)


def _value(figure: dict, percent: bool = False) -> str:
    if figure["estimate"] is None:
        return f"undefined: {figure['undefined']}"
    scale, form = (100, "{:.2f}") if percent else (1, "{:.4f}")
    text = form.format(scale * figure["estimate"])
    if figure["low"] is not None:
        text += f"  [{form.format(scale * figure['low'])}, {form.format(scale * figure['high'])}]"
    return text


def _left_out(figure: dict) -> str:
    return "; ".join(f"{n} {reason}" for reason, n in figure["left_out"].items() if n)


def _measure(found: dict, width: int = 42) -> str:
    return f"  {found['title']:<{width}} {_value(found)}  n={found['n_pairable']}  {_left_out(found)}".rstrip()


def _agreement(result: dict) -> list[str]:
    lines = [f"{result['n_items']} items, {result['n_units']} units, {result['n_raters']} raters ({result['raters']})"]
    for dimension in result["dimensions"]:
        lines += ["", f"{dimension['title']}: {dimension['n_labels']} labels"]
        lines += [_measure(found) for found in dimension["figures"]]
        if unasked := dimension["with_unasked"]:
            lines.append(f"  with {unasked['label']} as a label:")
            lines += ["  " + _measure(found, 40) for found in unasked["figures"]]
        for pair in dimension["pairs"]:
            lines.append(f"  {pair['a']} and {pair['b']}: kappa {_value(pair)}  n={pair['n_pairable']}")
        lines += _not_listed(dimension["n_pairs_not_listed"], "pairs of people")
        for row in dimension["by_source"]:
            alpha = row["alpha_nominal"]
            lines.append(f"  {row['source']}: alpha {_value(alpha)}  n={alpha['n_pairable']}")
        lines += _not_listed(dimension["n_sources_not_listed"], "sources")
    return lines


def _not_listed(number: int, what: str) -> list[str]:
    return [f"  ... and {number} more {what}"] if number else []


def _comparison(result: dict) -> list[str]:
    lines = [
        f"{result['checker']} {result['version']} against: {result['reference_title']}",
        f"{result['n_units']} units; labels that it touched {'count' if result['touched'] else 'do not count'}",
    ]
    for dimension in result["dimensions"]:
        votes = dimension["votes"]
        lines += [
            "",
            f"{dimension['title']}: {dimension['n_labels_untouched']} untouched of {dimension['n_labels_all']} labels",
            f"  reference: {votes['decided']} decided ({votes['single']} by one label), {votes['tied']} tied, "
            f"{votes['not_asked']} not asked, {votes['unlabelled']} without labels",
            _measure({"title": "Accuracy", **dimension["accuracy"]}),
            _measure({"title": "Macro-F1", **dimension["macro_f1"]}),
        ]
        if unasked := dimension["with_unasked"]:
            lines.append(f"  with {unasked['label']} as a label:")
            lines += ["  " + _measure(found, 40) for found in unasked["figures"]]
        lines += [
            _measure({**found, "title": f"{found['title']} with {result['score']}"})
            for found in dimension["correlations"]
        ]
        width = max(len(label["label"]) for label in dimension["labels"])
        lines.append("  rows: people, columns: checker, in the same order")
        for label, row in zip(dimension["labels"], dimension["confusion"], strict=True):
            lines.append(f"  {label['label']:<{width}} " + " ".join(f"{count:>7}" for count in row))
    return lines


def _rates(result: dict) -> list[str]:
    lines = [f"reference: {result['reference_title']}; rates in per cent"]
    for setting in result["settings"]:
        pending = f"; {setting['n_pending']} have triplets but no decided label" if setting["n_pending"] else ""
        lines += ["", f"{setting['setting'] or 'no setting'}: {setting['n_responses']} responses{pending}"]
        for row in ({"model": "mean over models", **setting["mean"]}, *setting["models"]):
            shares = "  ".join(f"{label} {_value(found, True)}" for label, found in row["shares"].items())
            lines.append(f"  {row['model']}: {shares}  abstained {_value(row['abstained'], True)}")
    return lines

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


def _agreement(result: dict) -> list[str]:
    lines = [f"{result['n_items']} items, {result['n_units']} units, {result['n_raters']} raters ({result['raters']})"]
    for dimension in result["dimensions"]:
        lines += ["", f"{dimension['title']}: {dimension['n_labels']} labels"]
        lines += [
            f"  {found['title']:<42} {_value(found)}  n={found['n_pairable']}  {_left_out(found)}".rstrip()
            for found in dimension["figures"]
        ]
        if dimension["with_unasked"]:
            lines.append(f"  with {dimension['with_unasked']['label']} as a label:")
            lines += [f"    {found['title']:<40} {_value(found)}" for found in dimension["with_unasked"]["figures"]]
        lines += [f"  {pair['a']} and {pair['b']}: kappa {_value(pair)}  n={pair['n_pairable']}" for pair in dimension["pairs"]]
        lines += [
            f"  {row['source']}: alpha {_value(row['alpha_nominal'])}  n={row['alpha_nominal']['n_pairable']}"
            for row in dimension["by_source"]
        ]
    return lines


def _comparison(result: dict) -> list[str]:
    lines = [f"{result['checker']} {result['version']} against: {result['reference_title']}"]
    for dimension in result["dimensions"]:
        votes = dimension["votes"]
        lines += [
            "",
            f"{dimension['title']}: {dimension['n_labels_untouched']} untouched of {dimension['n_labels_all']} labels; "
            f"{votes['decided']} decided, {votes['tied']} tied, {votes['unlabelled']} without labels",
            f"  accuracy {_value(dimension['accuracy'])}  n={dimension['accuracy']['n_pairable']}",
            f"  macro-F1 {_value(dimension['macro_f1'])}",
        ]
        width = max(len(label["label"]) for label in dimension["labels"])
        lines.append("  rows: people, columns: checker")
        for label, row in zip(dimension["labels"], dimension["confusion"], strict=True):
            lines.append(f"  {label['label']:<{width}} " + " ".join(f"{count:>7}" for count in row))
        lines += [f"  {found['title']} with {result['score']}: {_value(found)}" for found in dimension["correlations"]]
    return lines


def _rates(result: dict) -> list[str]:
    lines = [f"reference: {result['reference_title']}; rates in per cent"]
    for setting in result["settings"]:
        lines += ["", f"{setting['setting'] or 'no setting'}: {setting['n_responses']} responses"]
        for row in ({"model": "mean over models", **setting["mean"]}, *setting["models"]):
            shares = "  ".join(f"{label} {_value(found, True)}" for label, found in row["shares"].items())
            lines.append(f"  {row['model']}: {shares}  abstained {_value(row['abstained'], True)}")
    return lines

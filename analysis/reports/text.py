"""Reports as plain text tables, for the command line."""

from __future__ import annotations

from analysis.reports import association_tables, run_tables, tabular
from analysis.reports.methods_words import checker_name, said_of_labels_seen
from analysis.reports.metrics import get_report
from analysis.reports.numbers import n_of
from analysis.reports.tables import CLASSIFICATION
from analysis.sources.splits import in_words, split_in


def as_text(result: dict) -> str:
    """The report's main tables. Unknown reports raise KeyError."""
    lines = [f"{result['report']} of {result['project']} ({result['task_type']})"]
    tables = {
        "agreement": _agreement,
        "comparison": _comparison,
        "rates": _rates,
        "coverage": _coverage,
        "matched": _matched,
        "difference": _difference,
    }
    if result["report"] not in tables:  # the others are tables and nothing else
        tables = get_report(result["report"]).tables(result)
        return "\n\n".join([*lines, *result.get("notes", []), tabular.as_text(tables)])
    lines += filter(None, [said_of_labels_seen(result)])
    lines += tables[result["report"]](result)
    return "\n".join(lines)


def _value(figure: dict, percent: bool = False) -> str:
    if figure["estimate"] is None:
        return f"undefined: {figure['undefined']}"
    scale, form = (100, "{:.2f}") if percent else (1, "{:.4f}")
    text = form.format(scale * figure["estimate"])
    if figure["low"] is not None:
        text += f"  [{form.format(scale * figure['low'])}, {form.format(scale * figure['high'])}]"
        note = figure.get("interval", {}).get("note", "")
        text += f" ({note})" if note else ""
    return text


def _left_out(figure: dict) -> str:
    return "; ".join(f"{n} {reason}" for reason, n in figure["left_out"].items() if n)


def _measure(found: dict, width: int = 42) -> str:
    return f"  {found['title']:<{width}} {_value(found)}  n={found['n_pairable']}  {_left_out(found)}".rstrip()


def _agreement(result: dict) -> list[str]:
    lines = [
        f"{n_of(result['n_items'], 'items')}, {n_of(result['n_units'], 'units')}, "
        f"{n_of(result['n_raters'], 'raters')} ({result['raters']})"
    ]
    split = split_in(result.get("made_from", {}))
    groups = f"groups by {in_words(split)}" if split else "sources"
    for dimension in result["dimensions"]:
        lines += ["", f"{dimension['title']}: {n_of(dimension['n_labels'], 'labels')}"]
        lines += [_measure(found) for found in dimension["figures"]]
        lines += _against_chance(dimension["chance"])
        if unasked := dimension["with_unasked"]:
            lines.append(f"  with {unasked['label']} as a label:")
            lines += ["  " + _measure(found, 40) for found in unasked["figures"]]
        for row in dimension["per_label"]:
            lines.append(f"  {row['title']} against the rest: alpha {_value(row['alpha'])}  {n_of(row['n'], 'labels')}")
        for pair in dimension["pairs"]:
            lines.append(f"  {pair['a']} and {pair['b']}: kappa {_value(pair)}  n={pair['n_pairable']}")
        lines += _not_listed(dimension["n_pairs_not_listed"], "pairs of people")
        for row in dimension["by_source"]:
            alpha = row["alpha_nominal"]
            lines.append(f"  {row['source']}: alpha {_value(alpha)}  n={alpha['n_pairable']}")
        for row in dimension["by_arm"]:
            alpha = row["alpha_nominal"]
            lines.append(f"  arm {row['arm']}: alpha {_value(alpha)}  n={alpha['n_pairable']}")
        for row in dimension["arm_differences"]:
            lines.append(f"  arm {row['a']} minus arm {row['b']}: {_value(row)}")
        for row in dimension["by_version"]:
            alpha = row["alpha_nominal"]
            lines.append(f"  guidelines {row['version']}: alpha {_value(alpha)}  n={alpha['n_pairable']}")
        for row in dimension["version_differences"]:
            lines.append(f"  guidelines {row['version']} minus guidelines {row['before']}: {_value(row)}")
        if members := dimension["members_against_imported"]:
            lines.append(f"  members minus imported raters: {_value(members)}")
        lines += _not_listed(dimension["n_sources_not_listed"], groups)
    return lines


def _against_chance(chance: dict) -> list[str]:
    if chance["p_value"] is None:
        return [f"  against chance: undefined: {chance['undefined']}"]
    moved = f"{chance['n_movable']:,} of {n_of(chance['n_labels'], 'labels')} can move; "
    return [
        f"  against chance: p = {chance['p_value']:.4f} ({n_of(chance['n_permutations'], 'permutations')}; "
        f"{moved}{chance['null']}); "
        f"{chance['level']} alpha by chance {chance['chance_mean']:.4f}, at most {chance['chance_high']:.4f} in 95 %"
    ]


def _not_listed(number: int, what: str) -> list[str]:
    return [f"  ... and {number} more {what}"] if number else []


def _comparison(result: dict) -> list[str]:
    lines = [
        f"{checker_name(result)} against: {result['reference_title']}",
        f"{n_of(result['n_units'], 'units')}; labels that it touched "
        f"{'count' if result['touched'] else 'do not count'}",
        *filter(None, [tabular.left_out_words(result)]),
    ]
    for dimension in result["dimensions"]:
        votes = dimension["votes"]
        lines += [
            "",
            f"{dimension['title']}: {dimension['n_labels_untouched']} untouched of "
            f"{n_of(dimension['n_labels_all'], 'labels')}",
            f"  reference: {votes['decided']} decided ({votes['single']} by one label), {votes['tied']} tied, "
            f"{votes['not_asked']} not asked, {votes['unlabelled']} without labels",
            *(_measure({"title": title, **dimension[name]}) for name, title in CLASSIFICATION),
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
        parts = (
            run_tables.probabilities("Probabilities", dimension["probabilities"]) if dimension["probabilities"] else []
        )
        if dimension["versus"]:
            parts += run_tables.versus(result, "Two runs", dimension["versus"])
        parts += run_tables.scores(result, "Two scores", dimension["scores"] or [])
        if dimension["associations"]:
            parts += association_tables.associations(result, dimension["title"], dimension["associations"])
        lines += ["", tabular.as_text(parts)] if parts else []
    return lines


def _rates(result: dict) -> list[str]:
    lines = [f"reference: {result['reference_title']}; rates in per cent"]
    for setting in result["settings"]:
        units = f"{result['unit_words']} but " if result["unit_words"] != result["response_words"] else ""
        pending = f"; {setting['n_pending']} have {units}no decided label"
        lines += ["", f"{setting['setting'] or 'no setting'}: {n_of(setting['n_responses'], result['response_words'])}"]
        lines[-1] += pending if setting["n_pending"] else ""
        lines += _rates_of_models(setting)
        for part in setting["derived"]:
            lines += [f"  {part['title']}:", *("  " + line for line in _rates_of_models(part))]
    return lines


def _rates_of_models(part: dict) -> list[str]:
    lines = []
    for row in ({"name": "mean over models", **part["mean"]}, *part["models"]):
        shares = "  ".join(f"{label} {_value(found, True)}" for label, found in row["shares"].items())
        abstained = f"  abstained {_value(row['abstained'], True)}" if row["abstained"] else ""
        lines.append(f"  {row['name'] or 'no name'}: {shares}{abstained}")
    return lines


def _coverage(result: dict) -> list[str]:
    lines = [
        f"{result['reference_title']}, at least {n_of(result['k'], 'labels')} per aspect; "
        f"{result['ties_title'].lower()}"
    ]
    for row in ({"model": "all responses", **result["all"]}, *result["models"]):
        lines.append(
            f"  {row['model'] or 'no name'}: coverage {_value(row['coverage'])}  n={row['coverage']['n_pairable']}  "
            f"{row['covered']} covered, {row['not_covered']} not, {row['tied']} tied, {row['undecided']} undecided of "
            f"{n_of(row['n_aspects'], 'aspects')}, {n_of(row['n_votes'], 'votes')}  "
            f"{_left_out(row['coverage'])}".rstrip()
        )
    lines += ["", "  per response: covered / not covered / tied / undecided, votes, coverage"]
    for row in result["responses"]:
        share = f"{row['coverage']:.4f}" if row["coverage"] is not None else f"undefined: {row['undefined']}"
        counts = " / ".join(str(row[verdict]) for verdict in ("covered", "not_covered", "tied", "undecided"))
        lines.append(f"  {row['query']}  {row['model']}: {counts}, {row['n_votes']}, {share}")
    return lines + _not_listed(result["n_responses_not_listed"], "responses")


def _matched(result: dict) -> list[str]:
    sides = {"people": f"people ({result['reference_title'].lower()})", "checker": result["checker"]}
    lines = [f"{n_of(result['n_pairs'], 'pairs')}; {result['n_pairs_of_no_document']} more come from no document"]
    for name, counts in result["pairs"].items():
        left_out = "".join(f", {number} {reason}" for reason, number in counts["left_out"].items())
        lines.append(f"  {sides[name]}: {counts['entailed']} entailed, {counts['other']} not{left_out}")
    rows = [("all", result["all"])]
    rows += [("/".join(row[part] or "-" for part in ("method", "model", "setting")), row) for row in result["sources"]]
    for title, row in rows:
        lines += ["", f"{title}: {n_of(row['n_documents'], 'documents')} of {n_of(row['n_claims'], 'claims')}"]
        for name in result["pairs"]:
            for group in ("documents", "claims"):
                found = row[name][group]
                lines.append(
                    f"  matched {group}, {sides[name]}: {_value(found['share'])}  {found['matched']} matched, "
                    f"{found['unmatched']} not, {found['undecided']} undecided (between {found['lowest']:.4f} and "
                    f"{found['highest']:.4f})"
                )
    return lines


def _difference(result: dict) -> list[str]:
    names = [f"{checker_name(side)} ({side['uuid']})" for side in (result["other"], result["run"])]
    lines = [f"from {names[0]} to {names[1]}"]
    lines += [f"  {row['name']}: {row['other'] or '-'} -> {row['run'] or '-'}" for row in result["made_by"]]
    lines.append(f"  failures: {result['n_failures_gained']} more, {result['n_failures_lost']} no longer")
    for dimension in result["dimensions"]:
        lines += [
            "",
            f"{dimension['title']}: {dimension['n_changed']} of {n_of(dimension['n_both'], 'labels')} changed",
        ]
        lines += [_measure(dimension["agreement"]), _measure(dimension["kappa"])]
        values = [label["label"] for label in dimension["labels"]]
        for value, row in zip(values, dimension["confusion"], strict=True):
            changed = [f"{n} {to}" for to, n in zip(values, row, strict=True) if n]
            lines.append(f"  {value} -> {', '.join(changed) or 'none'}")
        if shift := dimension["shift"]:
            lines.append(f"  probabilities moved by {_value(shift['mean'])} on average, n={shift['n']}")
    for score in result["scores"]:
        if score["n"]:
            means = " -> ".join(_value(score[side]) for side in ("other", "run"))
            lines.append(f"  {score['name']}: mean {means}, n={score['n']}")
    return lines

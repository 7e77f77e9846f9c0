"""Do people mark the same passages? Per question: overall, per label, per field and per pair of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.agreement import GROUPS, names_of, of_group
from analysis.reports.figures import RESAMPLES, figure, figure_with, is_quick, named_figure
from analysis.reports.opened import AGREE, UNITS, Behind, of_pair, together
from analysis.reports.span_texts import WHO, MarkedTexts, marked_texts, units_where
from analysis.reports.spans_body import body, in_words, methods
from analysis.sources import Source
from analysis.sources.base import SLOT, dimensions_to_show

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Continua, Estimate, SpanAgreement
    from annotation.task_types import Dimension, TaskType

__all__ = ["body", "compute", "fits", "in_words", "methods", "opened"]

MAX_FIELDS = 20
MAX_PAIRS = 50
# Texts whose units are aligned for gamma, drawn at random where there are more, and random continua beside them.
GAMMA_TEXTS = 2000
GAMMA_DRAWS = 1000
HAS_QUICK_PASS = True
SPAN_MEASURES = {
    "exact_f1": "Exact F1",
    "overlap_f1": "Overlap F1",
    "character_f1": "Character F1",
    "character_iou": "Character IoU",
}
# How the raters of a text marked it; a text has one of these.
OUTCOMES = ("same", "overlap", "apart", "one", "none")


def fits(kind: TaskType) -> str:
    return "" if any(dimension.spans for dimension in kind.dimensions) else "nobody marks passages here"


def compute(source: Source, raters: str = "all", who: str = "answered") -> dict:
    """The report on spans. `raters` is a key of GROUPS, `who` one of WHO; anything else raises ValueError."""
    for name, value, known in (("raters", raters, GROUPS), ("who", who, WHO)):
        if value not in known:
            raise ValueError(f"{name} is one of {', '.join(known)}, not {value!r}")
    kind = source.type
    reason = fits(kind)
    if reason:
        raise ValueError(f"{source.slug}: {reason}")
    units = source.unit_frame(kind.unit_kind)
    people = of_group(source.rater_frame(), raters)
    labels = source.label_frame(units)
    labels = labels[labels["rater"].isin(people["rater"])]
    spans = source.span_frame(units)
    dimensions, behind = [], {UNITS: units["unit"].tolist()}
    for dimension in dimensions_to_show(kind, labels):
        if dimension.spans is None:
            continue
        answers = labels[labels["dimension"] == dimension.slug]
        marked = marked_texts(source, kind, dimension, units, answers, spans[spans["dimension"] == dimension.slug], who)
        found, texts_behind = _dimension(dimension, marked, people)
        dimensions.append(found)
        order = units["unit"]
        for name, chosen in texts_behind.items():
            behind[f"{dimension.slug}/{name}"] = order[order.isin(chosen)].tolist()
    return {
        "report": "spans",
        "project": source.slug,
        "task_type": source.task_type,
        "raters": raters,
        "who": who,
        "n_units": len(units),
        "dimensions": dimensions,
        "behind": behind,
    }


def _dimension(dimension: Dimension, marked: MarkedTexts, people: pd.DataFrame) -> tuple[dict, dict[str, set[int]]]:
    from analysis.stats import character_alpha, span_agreement, unitizing_alpha

    continua = marked.continua
    unitizing = unitizing_alpha(continua)
    figures = _span_figures(span_agreement(continua)) + [
        named_figure("character_alpha", "Character alpha", character_alpha(continua)),
        named_figure("u_alpha", "u-alpha: units and labels", unitizing.units_and_labels),
        named_figure("binary_u_alpha", "|u-alpha: marked or not", unitizing.marked_or_not),
        named_figure("cu_alpha", "cu-alpha: labels where both marked", unitizing.labels_where_both),
        *_gamma(continua),
    ]
    outcomes = _outcomes(continua)
    behind = {name: units_where(continua, chosen) for name, chosen in outcomes.items()}
    by_label = {label: _texts_with(continua.only_label(label)) for label in continua.labels}
    behind |= {f"label/{label}": units_where(continua, chosen) for label, chosen in by_label.items()}
    behind |= _looked_at(continua)
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        "required": dimension.spans.required,
        "n_texts": continua.n_texts,
        "n_spans": continua.n_spans,
        "n_answers": marked.n_answers,
        "n_marking": marked.n_marking,
        "n_unknown": marked.n_unknown,
        "n_several": sum(len(behind[name]) for name in OUTCOMES),
        "outcomes": {name: len(behind[name]) for name in (*OUTCOMES, "single")},
        "figures": figures,
        "labels": [
            {
                "label": label.value,
                "title": label.title,
                "n_units": len(behind[f"label/{label.value}"]),
                "n_spans": continua.only_label(label.value).n_spans,
                "figures": _of_part(
                    continua.only_label(label.value), "ku_alpha", "(k)u-alpha", unitizing.each_label[label.value]
                ),
            }
            for label in dimension.labels
            if label.value in by_label
        ],
        "fields": [
            {
                "field": field,
                "n_spans": found.n_spans,
                "figures": _of_part(found, "u_alpha", "u-alpha", unitizing_alpha(found).units_and_labels),
            }
            for field, found in list(marked.by_field.items())[:MAX_FIELDS]
        ],
        "n_fields_not_listed": max(0, len(marked.by_field) - MAX_FIELDS),
        **_pairs(continua, people),
    }, behind


def _looked_at(continua: Continua) -> dict[str, set[int]]:
    """Units by who looked at them, and with which answer where only the same answers are compared: what two people are
    compared on is what both looked at with the same one."""
    found: dict[str, set[int]] = {}
    for rater, text in zip(continua.rater.tolist(), continua.text.tolist(), strict=True):
        unit, group = continua.texts[text]
        found.setdefault(f"looked/{continua.raters[rater]}/{group}", set()).add(unit)
    return found


def opened(behind: Behind, figure: str) -> list[int] | None:
    """Units on which two people are compared."""
    match figure.split("/"):
        case [slug, "pair", a, b]:
            return of_pair(behind, f"{slug}/looked", a, b, AGREE)
        case [slug, "several"] if f"{slug}/same" in behind:
            return together(behind, [f"{slug}/{name}" for name in OUTCOMES])
    return None


def _span_figures(found: SpanAgreement) -> list[dict]:
    """Of all measures from one set of resamples, which costs no more than that of one."""
    intervals = {} if is_quick() else found.confidence_intervals(n_resamples=RESAMPLES)
    return [
        {"name": name, "title": title} | figure_with(getattr(found, name), intervals.get(name))
        for name, title in SPAN_MEASURES.items()
    ]


def _of_part(continua: Continua, name: str, title: str, alpha: Estimate) -> list[dict]:
    """Figures of one label, text or pair."""
    from analysis.stats import span_agreement

    return [*_span_figures(span_agreement(continua)), named_figure(name, title, alpha)]


def _gamma(continua: Continua) -> list[dict]:
    """Gamma, of a random part where there are many texts; none in a first pass."""
    if is_quick():
        return []
    import numpy as np

    from analysis.stats import gamma

    several = np.flatnonzero(continua.n_looked > 1)
    n_all = len(several)
    if n_all > GAMMA_TEXTS:
        several = np.random.default_rng(0).choice(several, GAMMA_TEXTS, replace=False)
        continua = continua.only_entries(np.isin(continua.text, several))
    found = gamma(continua, n_draws=GAMMA_DRAWS)
    return [{"name": "gamma", "title": "Gamma", "n_drawn_from": n_all, "n_draws": found.n_draws} | figure(found)]


def _texts_with(continua: Continua) -> np.ndarray:
    """Whether a text has a span, (n_texts,)."""
    import numpy as np

    return np.bincount(continua.text[continua.entry], minlength=continua.n_texts) > 0


def _outcomes(continua: Continua) -> dict[str, np.ndarray]:
    """Which texts were marked how, each a bool per text; `single` were looked at by one person only."""
    import numpy as np

    from analysis.stats.span_pairs import shared_spans

    pairs = shared_spans(continua)

    def per_text(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(pairs.text, weights=chosen, minlength=continua.n_texts) > 0

    entries = np.unique(continua.entry)
    marking = np.bincount(continua.text[entries], minlength=continua.n_texts)
    several = continua.n_looked > 1
    unequal, shared = per_text(pairs.either > pairs.shared), per_text(pairs.shared > 0)
    return {
        "same": several & (marking > 1) & ~unequal,
        "overlap": several & (marking > 1) & unequal & shared,
        "apart": several & (marking > 1) & ~shared,
        "one": several & (marking == 1),
        "none": several & (marking == 0),
        "single": continua.n_looked == 1,
    }


def _pairs(continua: Continua, people: pd.DataFrame) -> dict:
    """Every two people who looked at the same texts. Exchangeable slots are nobody, so they form no pairs."""
    import numpy as np

    from analysis.stats import unitizing_alpha
    from analysis.stats.span_pairs import entry_pairs

    names = names_of(people)
    slots = set(people.loc[people["kind"] == SLOT, "rater"])
    both = np.sort(continua.rater[entry_pairs(continua)], axis=1)
    found, n_shared = np.unique(both, axis=0, return_counts=True)
    named = []
    for (one, other), n in zip(found.tolist(), n_shared.tolist(), strict=True):
        pair = sorted((continua.raters[one], continua.raters[other]), key=lambda rater: (names[rater], rater))
        if not slots.intersection(pair):
            named.append((-n, [names[rater] for rater in pair], pair))
    # Which pairs are listed must not depend on names, which a release's files do not have.
    listed = sorted(sorted(named, key=lambda row: (row[0], sorted(row[2])))[:MAX_PAIRS])
    rows = []
    for _, (a, b), pair in listed:
        mine = continua.only_raters(pair)
        rows.append(
            {
                "a": a,
                "b": b,
                "a_id": pair[0],
                "b_id": pair[1],
                "figures": _of_part(mine, "u_alpha", "u-alpha", unitizing_alpha(mine).units_and_labels),
            }
        )
    return {"pairs": rows, "n_pairs_not_listed": len(named) - len(listed)}

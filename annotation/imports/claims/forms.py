"""Collecting claims in the browser: files or a provider, then what is mapped, dropped and drawn."""

from __future__ import annotations

import hashlib

from django import forms

from annotation.imports.claims import collecting
from annotation.imports.claims.choosing import (
    MOST_CLAIMS,
    ChoiceProblem,
    ClaimChoice,
    VerdictRow,
    same_verdict,
    verdict_rows,
)
from annotation.imports.forms import ManyFilesField
from annotation.models import ClaimCollection, Dataset


class CollectForm(forms.Form):
    files = ManyFilesField(
        label="Files",
        required=False,
        help_text="ClaimReview as JSON-LD, an answer of the Fact Check Tools API, the Data Commons feed, or a table "
        "with a claim in each row.",
    )

    def __init__(self, dataset: Dataset, data=None, files=None) -> None:
        super().__init__(data, files)
        if sets := collecting.sets_of_atomic_claims(dataset):
            shown = [(f"set:{name}", f"{name or 'the unnamed set'} ({n:,})") for name, n in sets.items()]
            self.fields["pieces"] = forms.ChoiceField(
                label="Or atomic claims of this data set's texts",
                required=False,
                choices=[("", "none"), *shown],
                help_text="What an extractor or a file took from the texts, by its set.",
            )
        if names := collecting.provider_names():
            self.fields["provider"] = forms.ChoiceField(
                label="Or ask", required=False, choices=[("", "nobody"), *((name, name) for name in names)]
            )
            self.fields["query"] = forms.CharField(label="About", required=False, max_length=500)
            self.fields["site"] = forms.CharField(
                label="Reviewed by the site", required=False, max_length=200, help_text="Such as politifact.com."
            )
            self.fields["language"] = forms.CharField(
                label="Language", required=False, max_length=20, initial="en", help_text="Such as en or pt-BR."
            )
            self.fields["most"] = forms.IntegerField(
                label="Most claims", min_value=1, max_value=MOST_CLAIMS, initial=1000, required=False
            )

    def clean(self) -> dict:
        cleaned = super().clean()
        if sum(bool(cleaned.get(name)) for name in ("files", "pieces", "provider")) != 1:
            others = {"pieces": "a set of atomic claims", "provider": "a provider"}
            sources = ["files", *(shown for name, shown in others.items() if name in self.fields)]
            self.add_error("files", f"Choose {'one of: ' if len(sources) > 1 else ''}{', '.join(sources)}")
        return cleaned


class ChoiceForm(forms.Form):
    drop_words = forms.CharField(
        label="Drop claims that mention",
        required=False,
        max_length=4000,
        help_text="Words with a comma between them, with and without an s at the end. DRUID drops photos and videos.",
    )
    drop_unreviewed = forms.BooleanField(label="Drop claims without a verdict", required=False)
    drop_undated = forms.BooleanField(label="Drop claims without a date", required=False)
    near = forms.FloatField(
        label="Drop near duplicates from a similarity of",
        min_value=0.5,
        max_value=1,
        help_text="Share of words that two claims have in common (Jaccard); 1 drops exact duplicates only.",
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )
    size = forms.IntegerField(
        label="Claims to draw",
        required=False,
        min_value=0,
        max_value=MOST_CLAIMS,
        help_text="Evenly over publishers, then verdicts, then time. Empty: all.",
    )
    seed = forms.IntegerField(label="Random seed", min_value=0, max_value=2**31 - 1)
    split_day = forms.DateField(
        label="Day that divides the time",
        required=False,
        help_text="Claims are drawn evenly from before and after it. Empty: regardless of their dates.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def __init__(self, collection: ClaimCollection, data=None) -> None:
        choice = ClaimChoice.from_json(collection.choice)
        initial = choice.as_json() | {"drop_words": ", ".join(choice.drop_words), "size": choice.size or None}
        super().__init__(data, initial=initial)
        self.rows = verdict_rows(collection)
        for row in self.rows:
            attrs = {"list": "verdict-labels", "autocomplete": "off", "aria-labelledby": f"{field_of(row)}-of"}
            self.fields[field_of(row)] = forms.CharField(
                required=False, max_length=200, initial=row.label, widget=forms.TextInput(attrs=attrs)
            )

    @property
    def verdicts(self) -> list[tuple[VerdictRow, forms.BoundField]]:
        return [(row, self[field_of(row)]) for row in self.rows]

    @property
    def rules(self) -> list[forms.BoundField]:
        return [self[name] for name in self.base_fields]

    def choice(self) -> ClaimChoice:
        """ChoiceProblem for what cannot be chosen. Labels that the page does not send stay as they are."""
        cleaned = self.cleaned_data
        verdicts: dict[str, dict[str, str]] = {}
        for row in self.rows:
            name = field_of(row)
            verdicts.setdefault(row.site, {})[row.verdict] = cleaned[name] if name in self.data else row.label
        return ClaimChoice.from_json(
            {
                "verdicts": verdicts,
                "drop_words": [one.strip() for one in cleaned["drop_words"].split(",") if one.strip()],
                "drop_unreviewed": cleaned["drop_unreviewed"],
                "drop_undated": cleaned["drop_undated"],
                "near": cleaned["near"],
                "size": cleaned["size"] or 0,
                "seed": cleaned["seed"],
                "split_day": cleaned["split_day"].isoformat() if cleaned["split_day"] else "",
            }
        )


def field_of(row: VerdictRow) -> str:
    """What the field of a verdict's label is called."""
    mark = hashlib.sha256(f"{row.site}\n{same_verdict(row.verdict)}".encode()).hexdigest()
    return f"verdict-{mark[:16]}"


__all__ = ["ChoiceForm", "ChoiceProblem", "CollectForm"]

"""Making a data set, and renaming it."""

from collections.abc import Mapping

from django import forms

from annotation.datasets.managing import free_slug
from annotation.editing import SharedForm
from annotation.models import Dataset
from annotation.rendering import FORMATS, TEXTS


class DatasetForm(forms.ModelForm):
    class Meta:
        model = Dataset
        fields = ("title", "slug", "description")
        labels = {"slug": "Short name"}
        help_texts = {
            "title": "A name for the content, such as CLIMATE-FEVER",
            "slug": "Used in URLs and commands: letters, digits and hyphens. Blank: made from the title.",
        }
        widgets = {
            "slug": forms.TextInput(attrs={"data-slug-of": "id_title"}),
            "description": forms.Textarea(attrs={"rows": 3}),
        }

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False

    def clean_slug(self):
        slug = self.cleaned_data["slug"] or free_slug(self.cleaned_data.get("title", ""))
        if slug == "new":
            raise forms.ValidationError("This short name is reserved")
        return slug


FORMAT = "format_"  # and the name of the text: one field for each


def format_fields(chosen: Mapping[str, str], reasons: Mapping[str, str] | None = None) -> dict[str, forms.ChoiceField]:
    """How these texts are shown, with the reasons for what is chosen."""
    found = ("", "As found: conversations as such, else plain text")
    return {
        FORMAT + name: forms.ChoiceField(
            choices=[found, *((one.slug, one.title) for one in FORMATS.values())],
            required=False,
            label=f"{TEXTS[name]} are shown as",
            initial=slug,
            help_text=(reasons or {}).get(name, ""),
        )
        for name, slug in chosen.items()
    }


class DatasetSettingsForm(SharedForm, forms.ModelForm):
    """The short name stays: URLs, commands and files hold it."""

    class Meta:
        model = Dataset
        fields = ("title", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields |= format_fields({name: self.instance.text_formats.get(name, "") for name in TEXTS})

    @property
    def changes(self) -> dict:
        """The cleaned values by the data set's columns."""
        chosen = {name: self.cleaned_data[FORMAT + name] for name in TEXTS}
        columns = {name: self.cleaned_data[name] for name in self.Meta.fields}
        return columns | {"text_formats": {name: slug for name, slug in chosen.items() if slug}}

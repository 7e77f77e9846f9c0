"""Making a data set, and renaming it."""

from django import forms

from annotation.datasets.managing import free_slug
from annotation.editing import SharedForm
from annotation.models import Dataset


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


class DatasetSettingsForm(SharedForm, forms.ModelForm):
    """The short name stays: URLs, commands and files hold it."""

    class Meta:
        model = Dataset
        fields = ("title", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

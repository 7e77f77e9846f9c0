"""Making a data set, and renaming it."""

from django import forms

from annotation.editing import SharedForm
from annotation.models import Dataset


class DatasetForm(forms.ModelForm):
    class Meta:
        model = Dataset
        fields = ("title", "slug", "description")
        labels = {"slug": "Address"}
        help_texts = {
            "title": "A name for the content, such as CLIMATE-FEVER",
            "slug": "Used in URLs and commands: letters, digits and hyphens",
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def clean_slug(self):
        slug = self.cleaned_data["slug"]
        if slug == "new":
            raise forms.ValidationError("This address is reserved")
        return slug


class DatasetSettingsForm(SharedForm, forms.ModelForm):
    """The short name stays: URLs, commands and files hold it."""

    class Meta:
        model = Dataset
        fields = ("title", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

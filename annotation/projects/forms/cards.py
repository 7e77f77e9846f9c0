"""The form of what people say of a data set."""

from django import forms

from annotation.editing import SharedForm
from annotation.projects.cards import MAX_CHARS, PARTS, CardError, card_of


class CardForm(SharedForm, forms.Form):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for part in PARTS:
            widget = forms.Textarea(attrs={"rows": part.lines}) if part.lines > 1 else forms.TextInput()
            self.fields[part.name] = forms.CharField(
                label=part.title, help_text=part.help, required=False, max_length=MAX_CHARS, widget=widget
            )

    def clean(self):
        cleaned = super().clean()
        checked = {}
        for name, value in list(cleaned.items()):
            try:
                checked |= card_of({name: value})
            except CardError as error:
                self.add_error(error.field, error.reason[0].upper() + error.reason[1:])
        return checked

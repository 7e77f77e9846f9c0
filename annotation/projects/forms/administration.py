"""Forms of the site's administrators."""

from django import forms

from annotation import incoming
from annotation.addresses import check_address
from annotation.models import Membership, Project
from annotation.projects.accounts.pasted import PASTE_CHARS
from annotation.projects.invitations import CREATOR


class InvitePeopleForm(forms.Form):
    """Many people, by their addresses or a table of them, into a project."""

    people = forms.CharField(
        required=False,
        max_length=PASTE_CHARS,
        label="Email addresses",
        help_text="One per line, or separated by commas; or a CSV with a column email and, for a project, columns role "
        "(such as annotator) and group, which go before what is chosen below.",
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    file = forms.FileField(required=False, label="Or a file with them", help_text="Text or CSV, in UTF-8.")
    roles = forms.MultipleChoiceField(
        required=False,
        choices=Membership.Role.choices,
        initial=[Membership.Role.ANNOTATOR],
        label="Roles in the project",
        widget=forms.CheckboxSelectMultiple,
    )

    def clean(self):
        cleaned = super().clean()
        if cleaned.get("file"):
            self._take(cleaned["file"])
        if not self.errors and not self.cleaned_data["people"].strip():
            self.add_error("people", "Enter addresses, or choose a file")
        if self.is_for_project and not cleaned.get("roles"):
            self.add_error("roles", "Choose at least one role in the project")
        return self.cleaned_data

    @property
    def is_for_project(self) -> bool:
        return True

    def _take(self, file) -> None:
        """The file's text takes the place of what is in the field, where the page shows it again."""
        try:
            text = file.read(4 * PASTE_CHARS).decode("utf-8-sig")
        except UnicodeDecodeError:
            return self.add_error("file", "The file is not text in UTF-8; save it as CSV UTF-8")
        if len(text) > PASTE_CHARS or not incoming.is_storable(text):
            return self.add_error("file", f"The file must be text of at most {PASTE_CHARS:,} characters")
        self.data = self.data.copy()
        self.data["people"] = self.cleaned_data["people"] = text

    @property
    def invited_as(self) -> list[str]:
        """The roles that an invitation carries where its row names none."""
        return self.cleaned_data["roles"]


class InviteManyForm(InvitePeopleForm):
    project = forms.ModelChoiceField(
        Project.objects.order_by("title", "pk"),
        required=False,
        to_field_name="slug",
        empty_label="No project, an account only",
    )
    may_create = forms.BooleanField(
        required=False, label="May create data sets and projects", help_text="Without a project only."
    )
    field_order = ("people", "file", "project", "roles", "may_create")

    @property
    def is_for_project(self) -> bool:
        return self.cleaned_data.get("project") is not None

    @property
    def invited_as(self) -> list[str]:
        if self.is_for_project:
            return super().invited_as
        return [CREATOR] if self.cleaned_data["may_create"] else []


class AddressForm(forms.Form):
    address = forms.CharField(
        label="Address that others open",
        max_length=incoming.ADDRESS_CHARS,
        help_text="Such as http://192.168.1.20:8000 or https://assay.example.org. Links in invitations begin with it.",
    )
    anyway = forms.BooleanField(
        required=False,
        label="Use it even if this machine gets no answer there",
    )

    def clean_address(self) -> str:
        try:
            return check_address(self.cleaned_data["address"])
        except incoming.Refused as refused:
            raise forms.ValidationError(f"The address {refused}") from None

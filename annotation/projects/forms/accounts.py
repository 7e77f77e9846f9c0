"""Forms around accounts and invitations."""

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation import incoming
from annotation.editing import SharedForm
from annotation.models import ApiToken, Membership, User
from annotation.projects import tokens
from annotation.projects.invitations import CREATOR
from annotation.projects.raters import why_no_group
from annotation.task_types import keys


class NewAccountForm(forms.Form):
    """Name and password; the address is the invitation's."""

    name = forms.CharField(
        label=_("Name"),
        max_length=150,
        help_text=_("Shown to other members of your projects. Exports show a random pseudonym instead."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=_("Password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least 10 characters."),
    )

    def __init__(self, *args, email: str, **kwargs):
        super().__init__(*args, **kwargs)
        self.email = email

    def clean(self):
        cleaned = super().clean()
        if cleaned.get("password"):
            person = User(username=self.email, email=self.email, name=cleaned.get("name", ""))
            try:
                validate_password(cleaned["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return cleaned


class NameForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["name", "mails_comments"]
        labels = {"name": _("Name"), "mails_comments": _("Mail me about comments")}
        help_texts = {
            "name": _("Shown to other members of your projects."),
            "mails_comments": _(
                _("Of replies to your comments, and of annotators' comments where you are a researcher.")
            ),
        }


class KeysForm(SharedForm, forms.Form):
    """One key for each action of the labelling page and the page of adjudicators."""

    def __init__(self, *args, account: User, kinds, **kwargs):
        super().__init__(*args, **kwargs)
        self.of_labels = keys.label_keys(kinds)
        for action, (usual, words) in keys.changeable().items():
            self.fields[action] = forms.CharField(
                label=capfirst(gettext(words)),
                initial=account.own_keys.get(action, usual),
                help_text=gettext("Usually {key}").format(key=usual),
                max_length=1,
                widget=forms.TextInput(attrs={"size": 2, "autocomplete": "off", "autocapitalize": "none"}),
            )

    def clean(self):
        cleaned = {action: key.lower() for action, key in super().clean().items()}
        first: dict[str, str] = {}
        for action, key in cleaned.items():
            if not keys.is_key(key):
                self.add_error(action, gettext("Enter a letter or a sign of a Latin keyboard; digits choose labels"))
            elif key in self.of_labels and key != keys.changeable()[action][0]:
                self.add_error(
                    action, gettext("“{key}” chooses a label in a project of yours: enter another key").format(key=key)
                )
            elif key in first:
                other = self.fields[first[key]].label
                self.add_error(
                    action,
                    gettext("“{key}” is the key of “{other}” too: change one of them").format(key=key, other=other),
                )
            first.setdefault(key, action)
        return cleaned

    @property
    def own_keys(self) -> dict[str, str]:
        """Those that differ from the usual ones."""
        usual = keys.changeable()
        return {action: key for action, key in self.cleaned_data.items() if key != usual[action][0]}


class SiteInvitationForm(forms.Form):
    email = forms.EmailField(label="Email address", max_length=incoming.EMAIL_CHARS)
    may_create = forms.BooleanField(required=False, label="May create data sets and projects")

    @property
    def roles(self) -> list[str]:
        return [CREATOR] if self.cleaned_data["may_create"] else []


class ResetLinkForm(forms.Form):
    email = forms.EmailField(label="Email address of the account", max_length=incoming.EMAIL_CHARS)

    def clean_email(self) -> str:
        self.person = User.objects.filter(email__iexact=self.cleaned_data["email"], is_active=True).first()
        if self.person is None:
            raise forms.ValidationError("There is no active account with this address")
        return self.cleaned_data["email"]


class ProjectInvitationForm(forms.Form):
    email = forms.EmailField(label="Email address", max_length=incoming.EMAIL_CHARS)
    roles = forms.MultipleChoiceField(
        choices=Membership.Role.choices,
        initial=[Membership.Role.ANNOTATOR],
        widget=forms.CheckboxSelectMultiple,
    )
    group = forms.CharField(required=False, help_text="Of an annotator, such as experts. Empty: none.")

    def clean(self):
        cleaned = super().clean()
        if group := cleaned.get("group"):
            problem = why_no_group(group)
            if not problem and "roles" in cleaned and Membership.Role.ANNOTATOR not in cleaned["roles"]:
                problem = "only annotators have a group: leave it empty, or choose the role annotator too"
            if problem:
                self.add_error("group", capfirst(problem))
        return cleaned


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What the token is for, such as a script or a machine.")
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=ApiToken.Scope.choices,
        initial=[ApiToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        help_text="A token cannot do more than you can.",
    )
    days = forms.IntegerField(label="Days until it expires", initial=90, min_value=1, max_value=tokens.LONGEST_DAYS)

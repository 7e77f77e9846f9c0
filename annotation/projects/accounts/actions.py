"""What an administrator can do with an account: one table, from which the page, its confirmations and the API come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django import forms

from annotation import incoming
from annotation.models import User
from annotation.projects.accounts import managing


class ConfirmForm(forms.Form):
    """Nothing to enter."""


class RightsForm(forms.Form):
    rights = forms.ChoiceField(choices=list(managing.RIGHTS.items()), widget=forms.RadioSelect)


class HandOverForm(forms.Form):
    to = forms.EmailField(
        label="Email of the person who takes over",
        max_length=incoming.EMAIL_CHARS,
        help_text="They must have an active account here.",
    )
    leaves = forms.BooleanField(
        required=False, initial=True, label="Take the role of researcher in these projects from the former owner"
    )

    def clean_to(self) -> User:
        found = User.objects.filter(email__iexact=self.cleaned_data["to"], is_active=True).first()
        if found is None:
            raise forms.ValidationError("There is no active account with this email; invite the person first")
        return found


@dataclass(frozen=True)
class AccountAction:
    """`apply(by, account, **fields of the form)` does it, says what it did, and raises AccountError where it cannot be
    done. `fits` says whether it makes sense for an account as it is."""

    title: str
    button: str
    explanation: str
    apply: Callable[..., str]
    form: type[forms.Form] = ConfirmForm
    fits: Callable[[User], bool] = lambda account: True
    is_danger: bool = False


ACTIONS = {
    "rights": AccountAction(
        "Rights",
        "Save",
        "Rights on the whole site. Roles in projects are set on each project's members page.",
        managing.set_rights,
        RightsForm,
        lambda account: account.is_active,
    ),
    "hand-over": AccountAction(
        "Hand over projects",
        "Hand over",
        "Another person becomes a researcher of all projects of this account and the owner of its data sets. Labels, "
        "decisions and the history keep the names of those who made them.",
        managing.hand_over,
        HandOverForm,
    ),
    "reset-second-factor": AccountAction(
        "Reset second factor",
        "Reset",
        "The codes of the person's app and their recovery codes stop working, and they are signed out everywhere. They "
        "then sign in with the password alone, so be sure who is asking.",
        managing.reset_second_factor,
        is_danger=True,
    ),
    "deactivate": AccountAction(
        "Deactivate",
        "Deactivate",
        "The person can no longer sign in; sessions and API tokens end, and items assigned to them go to others at "
        "once. Their labels, roles and history stay.",
        managing.deactivate,
        fits=lambda account: account.is_active,
        is_danger=True,
    ),
    "reactivate": AccountAction(
        "Reactivate",
        "Reactivate",
        "The person can sign in again, with the same password and roles.",
        managing.reactivate,
        fits=lambda account: not account.is_active,
    ),
}

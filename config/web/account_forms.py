"""Forms of allauth in the words of Assay's pages."""

from allauth.account.forms import LoginForm
from django.utils.translation import gettext as _


class SignInForm(LoginForm):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["remember"].label = _("Remember me")

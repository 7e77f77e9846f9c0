"""Links to a new password, where an administrator passes them on: those that mails would carry."""

from allauth.account import app_settings
from allauth.account.utils import user_pk_to_url_str
from django.urls import reverse

from annotation.models import User


def path_for(user: User) -> str:
    """It works once, until the password or the email changes or the person signs in, for PASSWORD_RESET_TIMEOUT."""
    key = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
    return reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key})

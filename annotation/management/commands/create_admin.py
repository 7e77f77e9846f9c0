"""Make the first account of a new site, or give an account a site administrator's rights."""

import getpass
import sys

from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction

from annotation.models import User


class Command(BaseCommand):
    help = (
        "Create a site administrator. Asks for the password, or reads it from standard input if that is not a terminal."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="")

    def handle(self, *args, email: str, name: str, **options) -> None:
        email = email.strip().lower()
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"{email} is not an email address") from error
        user = User.objects.filter(email__iexact=email).first()
        if user is not None:
            user.is_staff = user.is_superuser = user.is_active = True
            user.save(update_fields=["is_staff", "is_superuser", "is_active"])
            self.stdout.write(f"{user.email} is now a site administrator; the password was not changed")
            return
        user = User(username=email, email=email, name=name, is_staff=True, is_superuser=True)
        password = self._password()
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        user.set_password(password)
        with transaction.atomic():
            user.save()
            EmailAddress.objects.create(user=user, email=email, primary=True, verified=True)
        self.stdout.write(f"{email} is a site administrator; sign in at /accounts/login/")

    def _password(self) -> str:
        if not sys.stdin.isatty():
            return sys.stdin.readline().rstrip("\n")
        first = getpass.getpass("Password: ")
        if getpass.getpass("Password (again): ") != first:
            raise CommandError("The passwords do not match")
        return first

"""Accounts, for administrators."""

from rest_framework import serializers as s

from annotation import incoming
from annotation.projects.accounts import managing
from annotation.shapes import Shape


class AccountShape(Shape):
    uuid = s.UUIDField()
    name = s.CharField()
    email = s.CharField()
    active = s.BooleanField(source="is_active")
    rights = s.SerializerMethodField()
    second_factor = s.BooleanField(source="has_second_factor")
    last_sign_in = s.DateTimeField(source="last_login", allow_null=True)
    joined = s.DateTimeField(source="date_joined")

    def get_rights(self, account) -> str:
        return managing.rights_of(account)


class NewRights(Shape):
    rights = s.ChoiceField(list(managing.RIGHTS.items()))


class NewOwner(Shape):
    """`to` is the email of the person who takes over. With `leaves`, the former owner is no longer a researcher."""

    to = s.CharField(max_length=incoming.EMAIL_CHARS)
    leaves = s.BooleanField(default=False)


class DoneShape(Shape):
    """What was done, in a sentence."""

    message = s.CharField()


# What the body of an action holds, by its name in the table of actions.
ACTION_SHAPES = {"rights": NewRights, "hand-over": NewOwner}

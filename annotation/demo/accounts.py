"""Who can be signed in as with one click in a demo. Outside the demo there is no such account and no such address."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from annotation.models import Membership


@dataclass(frozen=True, slots=True)
class DemoAccount:
    slug: str
    name: str
    title: str
    role: str  # "" for the site administrator, who is no member of a project

    @property
    def is_administrator(self) -> bool:
        return not self.role

    @property
    def email(self) -> str:
        return f"{self.slug}@demo.invalid"


DEMO_ACCOUNTS = (
    DemoAccount("annotator", "Ada Amari", _("Annotator"), Membership.Role.ANNOTATOR),
    DemoAccount("second-annotator", "Ben Birke", _("Second annotator"), Membership.Role.ANNOTATOR),
    DemoAccount("adjudicator", "Cleo Conti", _("Adjudicator"), Membership.Role.ADJUDICATOR),
    DemoAccount("researcher", "Dana Dietz", _("Researcher"), Membership.Role.RESEARCHER),
    DemoAccount("administrator", "Emil Engel", _("Administrator"), ""),
)


def demo_account(slug: str) -> DemoAccount | None:
    return next((account for account in DEMO_ACCOUNTS if account.slug == slug), None)

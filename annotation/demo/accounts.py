"""Who can be signed in as with one click in a demo. Outside the demo there is no such account and no such address."""

from dataclasses import dataclass

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
    DemoAccount("annotator", "Ada Amari", "Annotator", Membership.Role.ANNOTATOR),
    DemoAccount("second-annotator", "Ben Birke", "Second annotator", Membership.Role.ANNOTATOR),
    DemoAccount("adjudicator", "Cleo Conti", "Adjudicator", Membership.Role.ADJUDICATOR),
    DemoAccount("researcher", "Dana Dietz", "Researcher", Membership.Role.RESEARCHER),
    DemoAccount("administrator", "Emil Engel", "Administrator", ""),
)


def demo_account(slug: str) -> DemoAccount | None:
    return next((account for account in DEMO_ACCOUNTS if account.slug == slug), None)

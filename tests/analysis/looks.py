"""What every test that looks at pages of figures does: compute them, open them, look."""

from collections.abc import Iterable, Iterator

from annotation.jobs import lifecycle
from annotation.models import Job
from tests.web.looks import faults


def opened(open_context, client, user, addresses: dict[str, str]) -> Iterator[tuple]:
    """Each page by its name, with its report computed."""
    compute_pages(client, user, addresses.values())
    page = open_context(user, color_scheme="dark").new_page()
    for name, address in addresses.items():
        page.goto(address)
        yield name, page


def compute_pages(client, user, addresses: Iterable[str]) -> None:
    client.force_login(user)
    for address in addresses:
        client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        assert lifecycle.run_here(job).state == "done", job.message


def unfold(page) -> None:
    """Open every section of a report's page, and the panel of its options."""
    page.locator("details:is(.section, .options)").evaluate_all("all => all.forEach((one) => (one.open = true))")


def is_fit_to_be_seen(page, name: str) -> None:
    """Nothing that axe calls grave, nothing wider than the window but tables, which scroll by themselves."""
    assert faults(page, name) == []

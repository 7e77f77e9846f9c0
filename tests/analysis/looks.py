"""What every test that looks at pages of figures does: compute them, open them in each theme and width, look."""

from collections.abc import Iterable, Iterator

import pytest

from annotation.jobs import lifecycle
from annotation.models import Job
from tests.web.looks import grave_problems, picture

in_every_look = pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("dark", 1280),
        pytest.param("light", 1280, marks=pytest.mark.slow),
        pytest.param("light", 390, marks=pytest.mark.slow),
    ],
)


def opened(open_context, client, user, addresses: dict[str, str], scheme: str, width: int) -> Iterator[tuple]:
    """Each page by its name, with its report computed."""
    compute_pages(client, user, addresses.values())
    page = open_context(user, color_scheme=scheme, viewport={"width": width, "height": 900}).new_page()
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


def is_fit_to_be_seen(page, name: str, scheme: str, width: int) -> None:
    """Nothing that axe calls grave, nothing wider than the window but tables, which scroll by themselves."""
    picture(page, f"{name}-{scheme}-{width}", full_page=True)
    assert grave_problems(page) == [], name
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name

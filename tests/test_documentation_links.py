"""Links from one page of the documentation to another lead to a file."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def links(page: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    return [target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")]


def test_every_link_leads_to_a_file():
    assert sum(len(links(page)) for page in PAGES) > 20
    assert [(page.name, to) for page in PAGES for to in links(page) if not (page.parent / to).exists()] == []


def test_every_page_of_statistics_is_listed():
    index = ROOT / "docs" / "statistics.md"
    assert {page.name for page in (ROOT / "docs/statistics").iterdir()} == {Path(to).name for to in links(index)}

"""The documentation inside Assay: each page's link to the section about it, and the pages of docs/ as they are."""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from posixpath import dirname, join, normpath

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay import places

DOCS = places.SHARED / "docs"
START = "index"
# Beginning of the names of addresses -> what helps there; the longest beginning is taken.
HELP = {
    "account": "share#accounts",
    "account_tokens": "api#tokens",
    "adjudication": "decisions#adjudication",
    "checker": "checkers",
    "claim": "formats#claims-from-texts",
    "dataset": "formats",
    "home": "index",
    "import": "formats",
    "item_key": "how-to/training-and-checks",
    "invitation": "share",
    "job": "how-to/stuck",
    "label_set": "label_sets",
    "learner_decision": "how-to/training-and-checks",
    "my_work": "tutorials/annotator#good-to-know",
    "pairs": "formats#pairs-that-assay-makes",
    "project": "how-to/index",
    "project_agreement": "statistics/agreement",
    "project_card": "explanation/releases",
    "project_comparison": "statistics/accuracy",
    "project_drafts": "checkers#reviewing-drafts",
    "project_exports": "formats#tables-of-labels-that-exports-write",
    "project_generations": "checkers#answers",
    "project_learning": "how-to/training-and-checks",
    "project_members": "share",
    "invite_members": "share",
    "project_pay": "running-a-study#hours-and-pay",
    "project_new": "task_types",
    "project_options": "label_sets",
    "project_progress": "running-a-study#watching-the-work",
    "project_prompts": "checkers#language-models-as-judges",
    "project_release": "explanation/releases",
    "project_report": "statistics/reports",
    "project_retrieval": "checkers#retrieval",
    "project_rule": "decisions#rules",
    "project_run": "checkers",
    "project_settings": "api#settings-of-a-project",
    "project_start": "tutorials/csv-to-paper#from-the-file-to-people",
    "project_training": "checkers#trained-on-the-projects-labels",
    "project_webhooks": "api#webhooks",
    "settings_history": "running-a-study#what-was-changed",
    "site_": "deployment",
    "site_address": "share",
    "site_health": "tutorials/operator#look-at-its-health",
    "site_invitations": "share",
    "answer_questionnaire": "tutorials/annotator#in-a-study",
    "extend_last_days": "how-to/who-gets-what#when-to-stop",
    "finish_study": "tutorials/annotator#in-a-study",
    "give_consent": "tutorials/annotator#in-a-study",
    "join_study": "tutorials/annotator#in-a-study",
    "return_to_study": "tutorials/annotator#in-a-study",
    "study_consent": "running-a-study#consent",
    "study_link": "running-a-study",
    "study_questionnaire": "running-a-study#questions-about-people",
    "taking_part": "tutorials/annotator#in-a-study",
    "withdraw_member": "running-a-study#consent",
    "study": "tutorials/csv-to-paper#from-the-file-to-people",
}
# By the address below /help/: pages without their ending, pictures with it.
FILES = {
    str(file.relative_to(DOCS)).removesuffix(".md"): file
    for file in DOCS.rglob("*")
    if file.suffix in (".md", ".png", ".svg")
}
MOST_CHARS, MOST_FOUND, EXCERPT = 200, 30, 220
_parser = MarkdownIt("commonmark", {"html": False}).enable("table")


def help_address(request: HttpRequest) -> str:
    """The section that helps with the page that was asked for."""
    name = (request.resolver_match and request.resolver_match.url_name) or ""
    fitting = max((one for one in HELP if name.startswith(one)), key=len, default="")
    return address_of(HELP.get(fitting, START))


def address_of(place: str) -> str:
    page, mark, section = place.partition("#")
    return reverse("help", args=[page]) + mark + section


def slug_of(title: str) -> str:
    """The anchor of a heading, as GitHub and the site of `make docs` make it."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def title_of(inline: Token) -> str:
    return "".join(one.content for one in inline.children or () if one.type in ("text", "code_inline"))


def rendered(text: str, page: str) -> tuple[str, str]:
    """The title and the HTML of a page whose links lead to pages here; links out of the documentation are left out."""
    tokens, title = _parser.parse(text), ""
    for token, inline in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open":
            token.attrSet("id", slug_of(title_of(inline)))
            title = title or title_of(inline)
        for one in token.children or ():
            if one.type == "link_open":
                _lead(one, "href", page)
            elif one.type == "image":
                _lead(one, "src", page)
    html = _parser.renderer.render(tokens, _parser.options, {})
    return title, html.replace("<pre>", '<pre tabindex="0">')  # which scroll sideways, by keyboard too


def _lead(token: Token, attribute: str, page: str) -> None:
    target = str(token.attrGet(attribute))
    if "://" in target or target.startswith("#"):
        return
    name, mark, section = target.partition("#")
    name = normpath(join(dirname(page), name)).removesuffix(".md")
    if name in FILES:
        token.attrSet(attribute, address_of(name + mark + section))
    else:
        token.attrs.pop(attribute)


@dataclass(frozen=True, slots=True)
class HelpSection:
    """A heading with the text below it, up to the next one. `place` is its address as in `HELP`."""

    page: str
    title: str
    place: str
    text: str

    def excerpt(self, words: list[str]) -> str:
        """Its text around the first of the words that it has."""
        found = [at for word in words if (at := self.text.lower().find(word)) >= 0]
        start = max(min(found, default=0) - EXCERPT // 3, 0)
        start = self.text.rfind(" ", 0, start) + 1 if start else 0
        shown = self.text[start : start + EXCERPT]
        return ("… " if start else "") + shown + (" …" if start + EXCERPT < len(self.text) else "")


@cache
def sections() -> list[HelpSection]:
    """Of all pages, in the order of their names."""
    found = []
    for name, file in sorted(FILES.items()):
        if file.suffix != ".md":
            continue
        page, headings = "", []
        for token, inline in pairwise(_parser.parse(file.read_text("utf-8"))):
            if token.type == "heading_open":
                headings.append((title_of(inline), []))
            elif token.type in ("inline", "fence") and headings:
                headings[-1][1].append(title_of(token) if token.type == "inline" else token.content)
        for title, (_, *texts) in headings:
            page = page or title
            found.append(HelpSection(page, title, f"{name}#{slug_of(title)}", " ".join(" ".join(texts).split())))
    return found


def searched(query: str) -> list[tuple[HelpSection, str]]:
    """The sections that have all words of the query, with an excerpt; those that name them in the title come first."""
    words = query.lower().split()
    fitting = [
        (-sum(word in one.title.lower() for word in words), -sum(map(one.text.lower().count, words)), place, one)
        for place, one in enumerate(sections())
        if words and all(word in f"{one.page} {one.title} {one.text}".lower() for word in words)
    ]
    return [(one, one.excerpt(words)) for *_, one in sorted(fitting)[:MOST_FOUND]]


@require_safe
def help_page(request: HttpRequest, page: str = START) -> HttpResponse:
    file = FILES.get(page)
    if file is None:
        raise Http404("no page of the documentation")
    if file.suffix != ".md":
        return FileResponse(file.open("rb"))
    title, html = rendered(file.read_text("utf-8"), page)
    query = request.GET.get("q", "").strip()[:MOST_CHARS]
    found = [(one, address_of(one.place), excerpt) for one, excerpt in searched(query)]
    context = {"title": title, "html": mark_safe(html), "is_start": page == START, "query": query, "found": found}
    return render(request, "help.html", context)


urlpatterns = [path("help/", help_page, name="help_start"), path("help/<path:page>/", help_page, name="help")]

"""Markdown that people wrote, as HTML that is safe to show: no raw HTML, no pictures, no attributes but links'."""

import nh3
from markdown_it import MarkdownIt

# fmt: off
TAGS = {
    "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "blockquote", "pre", "code",
    "strong", "em", "del", "a", "table", "thead", "tbody", "tr", "th", "td",
}
# fmt: on
_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def render(markdown: str) -> str:
    """Safe HTML. Headings go one level down, because the page around them has its own first one."""
    tokens = _parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    return nh3.clean(
        _parser.renderer.render(tokens, _parser.options, {}),
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )

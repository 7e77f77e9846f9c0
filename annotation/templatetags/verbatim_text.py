"""Texts of the data in HTML: character for character, and as they look."""

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

register = template.Library()


@register.filter
def verbatim(text: object) -> SafeString:
    """Escaped, and with a carriage return as a reference: the HTML parser would make a line feed of a bare one, and the
    quotes of highlights would no longer be the stored text's."""
    return mark_safe(escape("" if text is None else text).replace("\r", "&#13;"))


@register.inclusion_tag("annotation/work/text.html", takes_context=True)
def item_text(context, text: object, field: str) -> dict:
    """A text of an item's page as it is stored, and as it looks where it has a format (`LabellingPage.rendered`)."""
    return {"text": text, "rendered": context.get("rendered", {}).get(field)}


@register.simple_tag(takes_context=True)
def source_button(context, field: str) -> str:
    """What switches between a text's source and how it looks."""
    rendered = context.get("rendered", {}).get(field)
    if not (rendered and rendered.html):
        return ""
    return format_html(
        '<button type="button" class="source small quiet" data-do="source" aria-pressed="false" aria-keyshortcuts="m">'
        "{} <kbd>m</kbd></button>",
        gettext("Source text"),
    )


@register.simple_tag(takes_context=True)
def why_source(context, field: str) -> str:
    """Why a text is shown as its source though it has a format."""
    rendered = context.get("rendered", {}).get(field)
    return format_html('<p class="meta">{}</p>', rendered.why(gettext)) if rendered and rendered.reason else ""

"""Texts of the data in HTML: character for character, and as they look."""

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

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

"""Texts of the data in HTML, character for character."""

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def verbatim(text: object) -> SafeString:
    """Escaped, and with a carriage return as a reference: the HTML parser would make a line feed of a bare one, and the
    quotes of highlights would no longer be the stored text's."""
    return mark_safe(escape("" if text is None else text).replace("\r", "&#13;"))

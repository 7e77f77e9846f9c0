"""Words of the page's scripts, titles of task types, and what numbers answer a question, in the reader's language."""

from django import template
from django.conf import settings
from django.utils.html import json_script
from django.utils.translation import get_language
from django.utils.translation.trans_real import DjangoTranslation
from django.views.i18n import JSONCatalog

from annotation.task_words import in_words, number_words

register = template.Library()


@register.simple_tag
def script_words() -> str:
    """The catalogue for static/js/words.js; nothing in English, in which the scripts are written."""
    language = get_language()
    if language == settings.LANGUAGE_CODE:
        return ""
    view = JSONCatalog()
    view.translation = DjangoTranslation(language, domain="djangojs")
    return json_script(view.get_catalog(), "catalogue")


register.filter("number_words", number_words)
register.filter("task_title", in_words)

"""Texts as they look: Markdown, conversations and HTML as safe HTML, each stretch with its place in the source.

Highlights are offsets into the stored text, whichever way it is shown. The renderers write text only through
`runs.RunWriter`, which writes the offset of each run (`data-at`); `static/js/work/texts/` reads these. Knows no Django.
"""

from annotation.rendering.formats import FORMATS, TEXTS, BadFormats, Rendered, checked_formats, look_of, render
from annotation.rendering.shown import ShownText

__all__ = ["FORMATS", "TEXTS", "BadFormats", "Rendered", "ShownText", "checked_formats", "look_of", "render"]

"""What pages show with links that are passed on."""

from django import template
from django.utils.safestring import SafeString, mark_safe
from qrcode.image.svg import SvgPathFillImage
from qrcode.main import QRCode

from annotation.addresses import site_of

register = template.Library()
QUIET_MODULES = 4  # the blank margin that readers need


@register.simple_tag
def qr_code(link: str) -> SafeString:
    """A QR code of the link, as SVG on white, in both colour schemes."""
    code = QRCode(border=QUIET_MODULES, image_factory=SvgPathFillImage)
    code.add_data(link)
    svg = code.make_image().to_string(encoding="unicode")
    return mark_safe(svg)


@register.inclusion_tag("includes/reach.html", takes_context=True)
def reach_notice(context) -> dict:
    """Says, before a link is made, that others could not open it, and what to do."""
    request = context["request"]
    return {"site": site_of(request), "user": request.user, "is_demo": context.get("is_demo", False)}

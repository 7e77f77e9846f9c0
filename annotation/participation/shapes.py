"""Study links and participations in the API."""

from rest_framework import serializers as s

from annotation import incoming
from annotation.participation import links, panels
from annotation.shapes import Shape


class Instant(s.DateTimeField):
    """A moment that every database can hold."""

    def to_internal_value(self, value):
        try:
            return incoming.instant(value)
        except incoming.Refused as refused:
            raise s.ValidationError(str(refused)) from None


class StudyLinkShape(Shape):
    """`link` is for everybody who is to join. `places_used` of the `places` are taken; `state` is `open`, `full`,
    `expired` or `closed`."""

    uuid = s.UUIDField()
    title = s.CharField()
    link = s.CharField()
    state = s.SerializerMethodField()
    places = s.IntegerField()
    places_used = s.IntegerField()
    expires_at = s.DateTimeField(allow_null=True)
    group = s.CharField()
    most_items = s.IntegerField(allow_null=True)
    minutes = s.IntegerField(allow_null=True)
    panel = s.CharField()
    parameters = s.DictField(child=s.CharField())
    endings = s.DictField(child=s.CharField())
    is_signed = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_state(self, link) -> str:
        return links.state_of(link)

    def get_is_signed(self, link) -> bool:
        return bool(link.signing_key)


class Parameters(Shape):
    """Names of URL parameters, where `panel` is `url`."""

    participant = s.RegexField(r"^[\w.-]{1,60}$")
    study = s.RegexField(r"^[\w.-]{1,60}$", required=False)
    session = s.RegexField(r"^[\w.-]{1,60}$", required=False)


class Endings(Shape):
    """A code or a URL that participants take back to the panel, by how their participation ended."""

    def get_fields(self):
        return {
            state: s.CharField(max_length=500, required=False, validators=[panels.check_ending])
            for state in panels.OUTCOMES
        }


class NewStudyLink(Shape):
    """Without `expires_at`, the link works until it is full or closed."""

    title = s.CharField(max_length=200)
    places = s.IntegerField(min_value=1, max_value=links.MOST_PLACES)
    expires_at = Instant(allow_null=True, default=None)
    group = s.CharField(max_length=200, allow_blank=True, default="")
    most_items = s.IntegerField(min_value=1, max_value=links.MOST_PLACES, allow_null=True, default=None)
    minutes = s.IntegerField(min_value=1, max_value=links.MOST_MINUTES, allow_null=True, default=None)
    panel = s.ChoiceField(list(panels.PANELS), allow_blank=True, default="")
    parameters = Parameters(default=dict)
    signing_key = s.CharField(max_length=200, allow_blank=True, default="", write_only=True)
    endings = Endings(default=dict)

    def validate(self, values):
        if values.get("panel") == panels.URL and not values.get("parameters"):
            raise s.ValidationError({"parameters": "name the parameter that holds the participant"})
        return values


class ChangedStudyLink(Shape):
    """What is left out stays. `closed` keeps others from joining, or lets them again."""

    title = s.CharField(max_length=200, required=False)
    places = s.IntegerField(min_value=1, max_value=links.MOST_PLACES, required=False)
    expires_at = Instant(allow_null=True, required=False)
    group = s.CharField(max_length=200, allow_blank=True, required=False)
    most_items = s.IntegerField(min_value=1, max_value=links.MOST_PLACES, allow_null=True, required=False)
    minutes = s.IntegerField(min_value=1, max_value=links.MOST_MINUTES, allow_null=True, required=False)
    panel = s.ChoiceField(list(panels.PANELS), allow_blank=True, required=False)
    parameters = Parameters(required=False)
    signing_key = s.CharField(max_length=200, allow_blank=True, required=False, write_only=True)
    endings = Endings(required=False)

    def validate(self, values):
        if values.get("panel") == panels.URL and not values.get("parameters"):
            raise s.ValidationError({"parameters": "name the parameter that holds the participant"})
        return values

    closed = s.BooleanField(required=False)

"""Study links and participations in the API."""

from rest_framework import serializers as s

from annotation import incoming
from annotation.participation import links
from annotation.shapes import Shape


class Instant(s.DateTimeField):
    """A moment that every database can hold."""

    def to_internal_value(self, value):
        try:
            return incoming.instant(value)
        except incoming.Refused as refused:
            raise s.ValidationError(str(refused)) from None


class StudyLinkShape(Shape):
    """`link` is for everybody who is to join. `places_used` of the `places` are taken; `state` is `open`, `full`, `expired` or
    `closed`."""

    uuid = s.UUIDField()
    title = s.CharField()
    link = s.CharField()
    state = s.SerializerMethodField()
    places = s.IntegerField()
    places_used = s.IntegerField()
    expires_at = s.DateTimeField(allow_null=True)
    group = s.CharField()
    created_at = s.DateTimeField()

    def get_state(self, link) -> str:
        return links.state_of(link)


class NewStudyLink(Shape):
    """Without `expires_at`, the link works until it is full or closed."""

    title = s.CharField(max_length=200)
    places = s.IntegerField(min_value=1, max_value=links.MOST_PLACES)
    expires_at = Instant(allow_null=True, default=None)
    group = s.CharField(max_length=200, allow_blank=True, default="")


class ChangedStudyLink(Shape):
    """What is left out stays. `closed` keeps others from joining, or lets them again."""

    title = s.CharField(max_length=200, required=False)
    places = s.IntegerField(min_value=1, max_value=links.MOST_PLACES, required=False)
    expires_at = Instant(allow_null=True, required=False)
    group = s.CharField(max_length=200, allow_blank=True, required=False)
    closed = s.BooleanField(required=False)

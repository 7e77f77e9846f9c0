"""A release that this Assay keeps, as a source whose units its pages can open."""

from __future__ import annotations

from functools import cached_property

from django.db.models import Q

from analysis.models import Release
from analysis.sources.base import Source
from analysis.sources.releases.archives import path_for
from analysis.sources.releases.frames import ReleaseSource
from annotation.models import Rater, Unit


class StoredReleaseSource(ReleaseSource):
    def __init__(self, release: Release):
        super().__init__(path_for(release, release.project))
        self.release = release

    def rater_frame(self):
        """With the names that this Assay knows, which the files do not hold."""
        raters = super().rater_frame()
        names = dict(Rater.objects.filter(project=self.release.project).values_list("pseudonym", "name"))
        return raters.assign(name=[names.get(pseudonym, pseudonym) for pseudonym in raters["rater"]])

    def sibling(self, slug: str) -> Source:
        if slug not in self._siblings:
            raise ValueError(
                f"{slug!r} has no release from before release {self.release.number} of {self.slug}: freeze that "
                "project first, and then this one again"
            )
        return StoredReleaseSource(self._siblings[slug])

    def siblings(self) -> dict[str, str]:
        return {slug: release.project.title for slug, release in self._siblings.items()}

    @cached_property
    def _siblings(self) -> dict[str, Release]:
        """Of every other project on the data set the last release before this one: what is frozen later changes no
        figure of this one."""
        dataset = self.release.project.dataset_id
        rows = Release.objects.filter(project__dataset=dataset, moment__lt=self.release.moment).exclude(sha256="")
        others = rows.exclude(project=self.release.project_id).select_related("project", "job").order_by("moment")
        return {release.project.slug: release for release in others}

    def unit_numbers(self, units: list[int]) -> list[int | None]:
        """Units of the files are places, and those of what items are of come after them; these are the database's
        numbers of the versions that were in force when the labels were frozen, so that pages show what was judged, be
        it superseded since."""
        numbers = self._in_force(self.type.unit_kind, self._units["unit_key"].tolist())
        if any(unit >= len(numbers) for unit in units):
            numbers += self._in_force(self.type.anchor_kind, self._items["item_key"].tolist())
        return [numbers[unit] for unit in units]

    def _in_force(self, kind: str, keys: list[str]) -> list[int | None]:
        known = Unit.objects.filter(dataset=self.release.project.dataset, kind=kind)
        known = known.filter(Q(superseded_at=None) | Q(superseded_at__gt=self.release.moment)).order_by("-version")
        rows = dict(known.values_list("key", "pk").iterator(chunk_size=10_000))  # the oldest of a key comes last
        return [rows.get(key) for key in keys]

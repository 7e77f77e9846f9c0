"""A fixture for tests that hold a judge to people's labels. Nothing is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def assay_judge() -> Callable:
    """``assay_judge(file, judges, people, baseline=None, describe=(), **options)``.

    Fails the test unless every judge of the file is usable, and with `baseline`, a file that ``assay judge --json``
    wrote, where a verdict got worse. `options` are those of `assay.judge`; it returns what that returns.
    """

    def gate(file, judges=(), people=(), *, baseline=None, describe=(), **options):
        from pathlib import Path

        from analysis.judge.baseline import change_sentence, changes
        from analysis.judge.judging import judge
        from analysis.judge.written import with_fingerprints

        found = judge(file, judges, people, **options)
        wrong = [str(one) for one in found if not one.judgement.passes]
        if baseline is not None:
            every = with_fingerprints(Path(file), found, options.get("cluster", ""), describe)
            wrong += [change_sentence(one) for one in changes(Path(baseline), every) if one.is_worse]
        if wrong:
            pytest.fail("\n".join(wrong), pytrace=False)
        return found

    return gate

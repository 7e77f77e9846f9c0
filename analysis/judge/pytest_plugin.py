"""A fixture for tests that hold a judge to people's labels. Nothing is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def assay_judge() -> Callable:
    """``assay_judge(file, judges, people, baseline=None, describe=(), release=None, question="", **options)``.

    Fails the test unless every judge of the file is usable, and with `baseline`, a file that ``assay judge --json``
    wrote, where a verdict got worse. With `release` people's labels are those of a release (`question`), by the units'
    keys in the file's column `id`. `options` are those of `assay.judge`; it returns what that returns.
    """

    def gate(file, judges=(), people=(), *, baseline=None, describe=(), release=None, question="", **options):
        from contextlib import ExitStack
        from pathlib import Path

        from analysis.judge.anchor import anchored
        from analysis.judge.baseline import change_sentence, changes
        from analysis.judge.judging import judge
        from analysis.judge.written import with_fingerprints

        file, data = Path(file), ""
        with ExitStack() as files:
            if release is not None:
                anchor = files.enter_context(anchored(Path(release), [file], question))
                file, people, data = anchor.file, people or anchor.people, anchor.sha256
                options = {"level": anchor.level, "labels": anchor.order, "columns": anchor.columns} | options
            found = judge(file, judges, people, **options)
            wrong = [str(one) for one in found if not one.judgement.passes]
            if baseline is not None:
                is_long = "columns" in options
                every = with_fingerprints(file, found, options.get("cluster", ""), describe, is_long, data)
                wrong += [change_sentence(one) for one in changes(Path(baseline), every) if one.is_worse]
        if wrong:
            pytest.fail("\n".join(wrong), pytrace=False)
        return found

    return gate

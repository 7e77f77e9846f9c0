"""The settings of a project. Forms, validation, the API, exports, pages and the table in docs/api.md are made from
`SETTINGS`: a new setting is a field of the model `Project`, a line here, and the code where it takes effect."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as N_

from annotation import incoming
from annotation.projects.limits import quotas
from annotation.projects.setting_kinds.kinds import (
    NEVER,
    UNLESS_DEFAULT,
    AmountSetting,
    ArmSetting,
    AtLastDaySetting,
    ChoiceSetting,
    CurrencySetting,
    DaySetting,
    DefaultNumberSetting,
    DrawnSetting,
    FlagSetting,
    FurtherLimitSetting,
    FurtherSetting,
    LimitSetting,
    NumberSetting,
    OtherOverlapSetting,
    OverlapSetting,
    PaySetting,
    PieceSetSetting,
    ProjectSetting,
    QuotasSetting,
    RunSetting,
    ShareSetting,
    TextSetting,
)

# Sections of the form of a new project; of the task, the template names each field.
TASK, JUDGEMENTS, SUGGESTIONS, TIME = "The task", "Number of judgements", "Suggestions from checkers", "Time"
# Groups of the form of a project's settings, where they are not its sections.
ABOUT, DECISIONS, FURTHER = "About the project", "Decisions", "Further judgements where answers differ"
LEARNING, PAY, QUOTAS = "Qualification and checks", "Pay", "How much one person and one group label"
# Those that few projects use.
SELDOM = {FURTHER, LEARNING, PAY, QUOTAS}


SETTINGS: dict[str, ProjectSetting] = {setting.name: setting for setting in (
    TextSetting("title", "Title", section=TASK, group=ABOUT, can_change=True, is_public=True),
    TextSetting("description", "Description", most=20_000, group=ABOUT, can_change=True, is_public=True),
    PieceSetSetting(
        "piece_set", "Set of pieces",
        "Where triplets, sub-sentences, atomic claims or aspects are judged: the name of the set that they belong to, "
        "such as an extractor's. Empty: those without a set. It cannot be changed later.",
        section=TASK, exported=UNLESS_DEFAULT,
    ),
    OverlapSetting(
        "overlap", N_("Judgements per item"), "By different people. 0: imported labels only.",
        bounds=(0, 20), most=1000, section=JUDGEMENTS, is_public=True,
    ),
    ShareSetting(
        "multiple_share", "Share of items labelled more than once, in %",
        "The items are drawn at random with the seed. The others get the number below.",
        section=JUDGEMENTS, is_public=True,
    ),
    OtherOverlapSetting(
        "other_overlap", "Judgements of each other item", "Of those not drawn; never more than the drawn ones get.",
        bounds=(1, 20), most=1000, section=JUDGEMENTS, is_public=True, exported=UNLESS_DEFAULT,
    ),
    ChoiceSetting("order", N_("Order"), section=JUDGEMENTS, is_public=True),
    DrawnSetting(
        "seed", "Seed", "Of the random order; blank picks one.",
        bounds=(0, 2**31 - 1), most=incoming.MAX_BIG_INTEGER, section=JUDGEMENTS,
    ),
    ChoiceSetting(
        "prefill", "Suggestions of checkers",
        "With Off, no checker influences the labels. Shown is the fastest, but comparisons with a checker leave out "
        "labels given while its suggestion was visible. After the first answer keeps that answer uninfluenced and "
        "still lets people reconsider. A trial measures what seeing suggestions does: chance decides for each item and "
        "annotator, by the seed.",
        section=SUGGESTIONS, can_change=True,
    ),
    ArmSetting(
        "prefill_shown_percent", "In a trial, share of answers with suggestions shown, in %", bounds=(0, 100),
        section=SUGGESTIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    ArmSetting(
        "prefill_after_percent", "In a trial, share with suggestions after the first answer, in %",
        "The rest is given without suggestions.", bounds=(0, 100),
        section=SUGGESTIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    RunSetting(
        "prefill_run", "Suggestions come from", "The checker run whose suggestions annotators see.",
        group=SUGGESTIONS, can_change=True, exported=NEVER,
    ),
    FurtherSetting(
        "further", "Ask for a further judgement",
        "As soon as an item has all judgements that were asked for, another annotator is asked where the answers "
        "differ, until they no longer do or a limit is reached. “Where the label is not certain” asks once an hour, by "
        "a model of the annotators' errors. By default, agreement leaves these judgements out: they come where people "
        "disagree.",
        group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FurtherLimitSetting(
        "further_percent", "Probability from which a label is certain, in %",
        "The posterior under Dawid and Skene's model, where the label has to be certain.",
        bounds=(50, 99), group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    TextSetting(
        "further_questions", "Questions on which answers differ",
        "Short names between commas, such as stance. Empty: all questions.",
        group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FurtherLimitSetting(
        "further_most", "Most judgements of an item", "Including the planned ones.",
        bounds=(2, 20), most=1000, group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FurtherLimitSetting(
        "further_budget", "Most further judgements in the project", "0: no limit.",
        bounds=(0, 10_000_000), group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FlagSetting(
        "shows_decisions", "Show annotators what was decided of items that they have answered",
        "The label and its reason, never others' answers or notes. Answers that they change afterwards are marked and, "
        "by default, left out of agreement.",
        group=DECISIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FlagSetting(
        "shows_agreement", "Show annotators how often decisions agree with them",
        "On their page of their own work, by question, once 20 of their answers are decided. It counts first answers "
        "and changes once a day.",
        group=DECISIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "minimum_seconds", N_("Minimum time per item"),
        "Annotators are asked to confirm faster answers. 0: no minimum.",
        bounds=(0, 86_400), unit=N_("seconds"), section=TIME, can_change=True, is_public=True,
    ),
    NumberSetting(
        "lease_minutes", N_("Time to answer"), "An assignment not answered in time goes to another annotator.",
        bounds=(1, 525_600), unit=N_("minutes"), section=TIME, can_change=True, is_public=True,
    ),
    DefaultNumberSetting(
        "items_ahead", N_("Items ready ahead"),
        "With more than 1, people label without a connection: the browser keeps so many items ready, also when the "
        "page is reloaded. Each is held for 10 minutes times this number, or for the time to answer if that is longer.",
        bounds=(1, 50), group=TIME, can_change=True, is_public=True, exported=UNLESS_DEFAULT,
    ),
    DaySetting(
        "last_day", N_("Last day"), "Annotators see it. Empty: none.",
        group=TIME, can_change=True, is_public=True, exported=NEVER,
    ),
    AtLastDaySetting(
        "at_last_day", "When the last day is over", "In the server's time zone. Answers that are still sent are kept.",
        group=TIME, can_change=True, exported=NEVER,
    ),
    LimitSetting(
        "person_most_items", N_("Most items of one person"), "Checks are among them. 0: no limit.",
        bounds=(0, quotas.MOST), group=QUOTAS, can_change=True, is_public=True, exported=UNLESS_DEFAULT,
    ),
    LimitSetting(
        "person_most_percent", N_("Most items of one person, in % of the items"),
        "Rounded down, at least 1. 0: no limit.",
        bounds=(0, 100), group=QUOTAS, can_change=True, is_public=True, exported=UNLESS_DEFAULT,
    ),
    QuotasSetting(
        "group_quotas", "Most answers and last day of a group",
        "Groups between semicolons; of each, how many answers it gives, how many items each of its members gets and "
        "its last day, or some of these: “experts: until 2026-12-24; crowd: 1000, 10 each”. Others have no quota.",
        most=10_000, group=QUOTAS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "pass_percent", "Pass mark of the qualification, in %",
        "The share of right answers to all questions of the qualification items.",
        bounds=(0, 100), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "qualification_tries", "Tries", "How often a person may go through the qualification.",
        bounds=(1, 20), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FlagSetting(
        "shows_keys", "Show the right answers in the qualification", "Training always shows them.",
        group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "check_every", "One check in so many items", "Each person gets them at drawn places. 0: no checks.",
        bounds=(0, 10_000), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    ChoiceSetting(
        "check_action", "After failed checks", "Labels are never deleted.",
        group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "check_failures", "Failed checks that are too many", "Among the latest checks of a person.",
        bounds=(1, 1000), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "check_window", "Latest checks that are looked at", "A check is failed unless all its answers are right.",
        bounds=(1, 1000), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    CurrencySetting(
        "pay_currency", "Currency", "Three letters, such as EUR. Empty: people are not paid through a table of Assay.",
        group=PAY, can_change=True, exported=NEVER,
    ),
    AmountSetting(
        "pay_rate", "Rate", "What is paid for one of the following. 0: nothing.",
        group=PAY, can_change=True, exported=NEVER,
    ),
    PaySetting("pay_per", "The rate is for one", group=PAY, can_change=True, exported=NEVER),
    FurtherLimitSetting(
        "pay_pause_minutes", "Longest time between two answers that counts as work, in minutes",
        "Longer is a pause, and is not among the hours.", bounds=(1, 240), group=PAY, can_change=True, exported=NEVER,
    ),
    AmountSetting(
        "pay_bonus", "Bonus per person", "Once, to those who reach both numbers below.",
        group=PAY, can_change=True, exported=NEVER,
    ),
    FurtherLimitSetting(
        "pay_bonus_percent", "For the bonus, checks passed at least, in %",
        "A person who had no checks has none failed.", bounds=(0, 100), group=PAY, can_change=True, exported=NEVER,
    ),
    FurtherLimitSetting(
        "pay_bonus_items", "For the bonus, items answered at least",
        bounds=(0, 10_000_000), group=PAY, can_change=True, exported=NEVER,
    ),
    FlagSetting(
        "shows_pay", "Show annotators their pay",
        "On their page of their own work: the amount by the rate, without the bonus, which would tell how they did in "
        "checks.",
        group=PAY, can_change=True, exported=NEVER,
    ),
)}  # fmt: skip


def changeable() -> list[ProjectSetting]:
    """Those that can change when the project has items; overlap, share, order and seed are built into the items."""
    return [one for one in SETTINGS.values() if one.can_change]


def asked() -> list[ProjectSetting]:
    """Those in the form of a new project."""
    return [one for one in SETTINGS.values() if one.section]


def why_not_paid(values: Mapping[str, object]) -> str:
    """Why these settings of a project do not make pay; empty where they do."""
    if (values.get("pay_rate") or values.get("pay_bonus")) and not values.get("pay_currency"):
        return "A rate or a bonus needs a currency, such as EUR"
    return ""


def in_words(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Labels and values for a page, as far as an export would have them: few projects use the others. In the reader's
    language where annotators see them (`is_public`)."""
    shown = (one for one in SETTINGS.values() if one.name in values)
    found = (
        (gettext(one.label), one.in_words(values))
        for one in shown
        if one.exported == NEVER or one.is_exported(values[one.name])
    )
    return [(label, words) for label, words in found if words]

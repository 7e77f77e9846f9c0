"""Sections of reports with pages of their own, as the tables that the command prints too."""

from django import template

from analysis.reports import attention, drift, people_tables, selected
from analysis.reports.tabular import Table

register = template.Library()


@register.filter
def selection_tables(dimension: dict) -> list[Table]:
    return selected.tables(dimension)


@register.filter
def drift_tables(dimension: dict) -> list[Table]:
    return drift.tables(dimension["title"], dimension["drift"])


@register.filter
def prevalence_tables(dimension: dict) -> list[Table]:
    return [people_tables.shares_of_labels(dimension)]


@register.filter
def attention_tables(dimension: dict) -> list[Table]:
    return attention.tables(dimension)

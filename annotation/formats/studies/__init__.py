"""Formats of published data sets, a module each."""

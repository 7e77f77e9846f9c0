"""Formats of other annotation tools, a module or folder each."""

"""Formats of Assay itself: content files and whole exports."""

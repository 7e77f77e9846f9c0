"""Frozen labels: canonical files named by their content, from which every figure can be computed again. `cards` writes
files for readers without Assay, `public` makes public pages, `hub` publishes to a hub."""

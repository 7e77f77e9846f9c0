"""Frozen labels: canonical files named by their content, from which every figure can be computed again."""

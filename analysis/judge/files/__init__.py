"""Files that `assay judge` writes."""

"""Words, sentences and measures of texts, without models that must be downloaded."""

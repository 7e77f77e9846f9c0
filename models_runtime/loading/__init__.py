"""Finding models, loading them safely and running them in batches."""

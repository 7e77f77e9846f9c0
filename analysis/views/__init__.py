"""Pages that show figures."""

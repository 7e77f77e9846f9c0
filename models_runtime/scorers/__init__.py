"""What gives numbers about a claim and its evidence, and no labels."""

"""Rules that derive decisions from labels: each makes a set of decisions of its own, and never touches a person's.
`kinds` is the table of rules, `deciding` computes decisions, `running` stores them."""

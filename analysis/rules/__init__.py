"""Rules from labels to decisions; a run makes its own set and changes no decision of a person. `kinds` is the table of
rules, `deciding` computes decisions, `running` stores them."""

"""What machines do: `runs` of checkers, `training`, `prompts` in versions, `drafts` of extractors, `generations` of
answers, and `retrieval`. `runs/kinds.py` is the table of kinds of runs."""

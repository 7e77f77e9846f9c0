"""Pages of releases: those of a project, what changed between two, and what anybody may read."""

"""From an upload to published content and labels. `claims` collects claims that were reviewed elsewhere, `pairs` makes
pairs of content that a data set already has."""

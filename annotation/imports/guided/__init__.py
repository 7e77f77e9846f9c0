"""A new study, from a file to its first label or figure: the pages of imports, in order, and what follows them."""

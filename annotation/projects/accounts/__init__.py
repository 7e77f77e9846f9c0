"""The accounts of the site, for its administrators: the list, what can be done with one, inviting many, and the rights
that groups of a sign-in provider give."""

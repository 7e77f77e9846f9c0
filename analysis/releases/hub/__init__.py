"""Releases in repositories of a hub: asking for it, sending the files, and the tokens that this takes."""

"""Rules that settle what people said: each makes a set of decisions of its own, and never touches a person's."""

"""The kinds of settings of a project, and the form fields by which they are asked."""

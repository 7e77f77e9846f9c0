"""The way of a person into a project, through it and out of it, where they come by a study link."""

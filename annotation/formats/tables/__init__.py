"""Tables with columns of the user: `guessing` says what columns mean, `ratings` reads labels, `format` content."""

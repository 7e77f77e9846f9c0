"""What answers questions: language models (see `contracts`)."""

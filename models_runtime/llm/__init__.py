"""Language models behind OpenAI-compatible servers: which there are, asking them, prompts, and reading the answers."""

"""How probable a causal language model finds given answers, from a model that is loaded here or from a server."""

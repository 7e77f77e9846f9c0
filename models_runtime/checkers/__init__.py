"""One file per checker. Each has `build(info, spaces, parameters)`; the registry's table names them."""

"""One file per checker. Each has `INFO` and `build(info, spaces, parameters)`, and a line in `table`."""

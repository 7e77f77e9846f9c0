"""Where reports read labels from: the database, or files. Reports know only `Source`, so both give the same numbers;
pages know its `Outline`, which needs no frames."""

"""From bytes to rows and values: encodings, containers, JSON, spreadsheets, Parquet."""

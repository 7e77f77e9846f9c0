"""What stands beside a release's hash for readers without Assay: tables, the card, Croissant, a citation, checksums."""

"""Files of a release that its hash does not cover, for readers without Assay: tables, the card, Croissant, a citation,
checksums."""

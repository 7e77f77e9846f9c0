"""Reading releases: their files, checked against their hashes, and the frames in them."""

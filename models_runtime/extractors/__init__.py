"""What takes texts apart: proposals of claim-triplets, atomic claims and aspects (see `contracts`)."""

"""How much people and groups label, and until when."""

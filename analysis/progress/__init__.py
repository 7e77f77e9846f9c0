"""How the work of a project goes: its progress and pace, and each person's work, hours and pay."""

"""From what a checker measures to labels of any label space."""

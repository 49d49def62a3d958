"""Command leaves: one per sub-command."""

"""Language leaves: each reads one kind of file."""

"""Profiles on disk become columns: readers, the schema of the columns, the store, level of detail."""

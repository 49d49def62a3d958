"""Analysis leaves: each turns a run into tables."""

"""Executor leaves: where units of work run."""

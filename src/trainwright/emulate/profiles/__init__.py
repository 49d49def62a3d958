"""Fault profiles that come with the package."""

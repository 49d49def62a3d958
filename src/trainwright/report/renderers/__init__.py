"""Renderer leaves: one per output format."""

"""Migrate: find what ties a project to CUDA, rewrite what can be rewritten, report the rest with the way out."""

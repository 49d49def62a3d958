"""Files that are not programs of the host language: scripts, containers, requirements, configuration."""

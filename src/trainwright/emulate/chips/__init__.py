"""Chip profiles, one a file. The contract is `trainwright.emulate.chip`."""

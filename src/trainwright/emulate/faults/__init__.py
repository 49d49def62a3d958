"""Kinds of faults, one a file. The contract is `trainwright.emulate.fault`."""

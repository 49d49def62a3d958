"""Values and rules every feature shares: errors, results, units, registry, settings, executor."""

"""Where the time goes: analyses over the trace store."""

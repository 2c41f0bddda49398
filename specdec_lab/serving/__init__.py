"""The same speculation in other engines: one description, its configuration for each of them, and what vLLM's counters say of it."""

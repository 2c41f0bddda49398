"""What to expect before anything runs: closed forms, simulation, and exact laws by enumeration."""

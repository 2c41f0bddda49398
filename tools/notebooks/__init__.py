"""The life of a notebook: clean, lint, exercises, badges, execute. `python -m tools.notebooks --help`"""

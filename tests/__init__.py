"""The suite. `python3 -m tests` runs it in every ring: see CONTRIBUTING.md."""

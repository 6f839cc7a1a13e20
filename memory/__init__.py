"""The project memory: its document, entries and trust. Imports nothing of ours."""

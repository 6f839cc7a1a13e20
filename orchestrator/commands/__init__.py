"""The commands of orch, one module each."""

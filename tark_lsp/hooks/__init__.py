"""Hooks: the user's commands that run at events of a turn, and can refuse or change what the agent does
(docs/hooks.md)."""

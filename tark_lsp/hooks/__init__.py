"""Commands of the user that see what the agent does, and can refuse or change it (docs/hooks.md)."""

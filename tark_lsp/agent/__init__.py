"""The agent: asks the model, decides what its tool calls may do, and keeps the history valid. It does no I/O itself."""

"""The agent: asks the model, decides what its tool calls can do, and keeps the history sendable. No I/O of its own."""

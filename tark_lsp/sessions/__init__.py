"""What is stored persistently of sessions: messages, what the user was shown, tokens and cost."""

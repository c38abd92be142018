"""What is stored of sessions and outlives the server: messages, what the user was shown, tokens and cost."""

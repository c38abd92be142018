"""What is kept of sessions when the server is gone: their messages, what the person was shown, tokens and cost."""

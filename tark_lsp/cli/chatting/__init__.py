"""The terminal chat (`tark-lsp chat`): a client of our own server, for a conversation in the terminal."""

"""The terminal chat (`tark-lsp chat`): a client of our own server that keeps a conversation at a terminal."""

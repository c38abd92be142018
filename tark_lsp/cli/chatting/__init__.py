"""The terminal chat (`tark-lsp chat`): a client of Tark's language server, for a conversation in the terminal."""

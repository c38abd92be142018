"""tark_lsp: an AI agent for every editor that speaks LSP."""

__version__ = "0.1.0"

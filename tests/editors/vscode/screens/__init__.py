"""The pictures of docs/vscode.md: `uv run python -m tests.editors.vscode.screens [FOLDER] [NAME...]`."""

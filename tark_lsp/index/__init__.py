"""The code index of a workspace: definitions, references and chunks of its files, searched in a separate process."""

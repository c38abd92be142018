"""Secrets in text: the shapes of keys, where they are in a text, and the tokens that replace them for the model."""

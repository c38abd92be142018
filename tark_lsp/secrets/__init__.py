"""Secrets in text: the patterns of keys, their detection, and the tokens that replace them for the model."""

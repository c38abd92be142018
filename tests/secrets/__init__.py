"""The detection of secrets, and the tokens that replace them."""

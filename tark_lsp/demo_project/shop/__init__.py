"""A shop so small that it fits into a demo."""

"""Tests of the code index."""

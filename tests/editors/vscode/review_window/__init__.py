"""Tests of review and of permission requests, which share a window."""

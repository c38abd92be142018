"""Tests of the chat, which share a window."""

"""Promises that need the machinery of tests: loopback servers, an editor in memory."""

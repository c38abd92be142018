"""Tests of the trust report, and the promises that need the machinery of tests."""

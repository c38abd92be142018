"""Parsers for the output of test runners and checkers. Pure; one module for each format."""

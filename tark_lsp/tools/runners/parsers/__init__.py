"""Read the output of test runners and checkers. Pure; one file for each form of output."""

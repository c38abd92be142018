"""Test runners and checkers as rows of data: how each is recognised, what it is called with, how its output is read.

| file | has |
|---|---|
| `python.py`, `javascript.py`, `rust.py`, `golang.py`, `make.py` | the rows of one ecosystem each |
| `table.py` | all rows, in the order in which they are chosen |
| `runner.py`, `project.py` | what a row is; what a folder of the workspace has, as far as rows ask about it |
| `choice.py` | the row and the command line for a call |
| `parsers/`, `report.py` | the output of a run -> the failures and counts in it |
| `reading.py` | runs a parser in a process of its own |
| `running.py`, `summary.py` | runs the command line as `run_command` does; tells what came of it |
"""

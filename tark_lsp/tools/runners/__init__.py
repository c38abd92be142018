"""Test runners and checkers as rows of data: how each is detected, how it is called, and how its output is parsed.

| file | has |
|---|---|
| `python.py`, `javascript.py`, `rust.py`, `golang.py`, `make.py` | the rows of one ecosystem |
| `table.py` | all rows, in the order in which they are chosen |
| `runner.py`, `project.py` | the type of a row; the files of a workspace folder that rows need |
| `choice.py` | the row and the command line for a call |
| `parsers/`, `report.py` | parse the output of a run into failures and counts |
| `reading.py` | runs a parser in a separate process |
| `running.py`, `summary.py` | run the command line like `run_command`; summarize the result |
"""

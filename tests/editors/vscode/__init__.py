"""Tests of the extension for VS Code: unit tests, tests in the extension host, and tests in a real workbench.

`installed` has the programs, `workbench` a window and `chat` the chat in it. `hands` performs user actions for tests in
the extension host. `hostile` and `axe` check the page. `screens` is not a test: it takes the pictures of docs/.
"""

"""Tests of the extension for VS Code: unit tests, tests in the extension host, and tests in a real workbench.

`installed` has the programs, `windows` and `workbench` a window, and `chat` the chat in it. The files of `chat_window`
and of `review_window` share a window. `hands` performs user actions for tests in the extension host. `axe` checks the
page. `screens` is not a test: it takes the pictures of docs/.
"""

"""Tests of the extension for VS Code: unit tests, in its extension host, and on the screen of a real workbench.

`installed` has the programs, `workbench` a window and `chat` the chat in it; `hands` does for the extension host what
only a person can; `hostile` and `axe` say what a page must stand. `screens` is no test: it takes the pictures of docs/.
"""

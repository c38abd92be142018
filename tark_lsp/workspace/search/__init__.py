"""Lists and searches the files of the workspace that are not ignored: ripgrep, or walker.py if it is missing."""

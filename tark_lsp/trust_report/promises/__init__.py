"""One module for each promise, with a `PROMISE`."""

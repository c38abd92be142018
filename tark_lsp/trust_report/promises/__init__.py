"""One promise a file, each with a `PROMISE`."""

"""One module per editor that `tark-lsp install` supports, with `install(screen, link=)` and `uninstall(screen)`."""

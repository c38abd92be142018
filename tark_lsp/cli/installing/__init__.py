"""One file per editor that `tark-lsp install` knows: `install(screen, link=)` and `uninstall(screen)`."""

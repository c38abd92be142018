"""`python -m tark_lsp` is the command `tark-lsp`."""

import sys

from tark_lsp.cli import main

sys.exit(main())

"""`python -m tests.trust_report`: the report of `tark-lsp trust-report`, and the promises that need the tests."""

import sys

from tark_lsp.cli.trust_report import report
from tark_lsp.trust_report.report import load_promises
from tests.trust_report import promises

if __name__ == "__main__":
    sys.exit(report(load_promises(promises), sys.argv[1:]))

"""Makes all attempts. Run as `python -m tark_lsp.trust_report.attempts GROUND.json`, inside or outside. Prints JSON."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

from tark_lsp.trust_report.attempts import on_files, on_system  # noqa: F401  # they fill the table
from tark_lsp.trust_report.attempts.table import ATTEMPTS


def main() -> None:
    ground = SimpleNamespace(**json.loads(Path(sys.argv[1]).read_text()))
    results = {}
    for name, function in ATTEMPTS.items():
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            try:
                signal.alarm(5)
                function(ground)
                os.write(writing, b"done")
            except BaseException as error:  # noqa: BLE001  # any exception is a result
                os.write(writing, f"{type(error).__name__}: {error}".encode()[:300])
            os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with open(reading, "rb") as pipe:  # noqa: PTH123  # a handle
            results[name] = pipe.read().decode() or "ended"
    shutil.rmtree(Path(ground.workspace, "mnt"), ignore_errors=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()

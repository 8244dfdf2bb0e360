"""Entry point of the ``punish-fast`` command."""

from __future__ import annotations

import os
import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code."""
    # Nothing here needs a BLAS; its idle threads would only compete with ours.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from punish_fast.cli.app import run

        code = run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = _INTERRUPTED
    # The work is done; an interrupt while Python shuts down would only print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


if __name__ == "__main__":
    main()

"""Entry point of the ``punish-fast`` command."""

import os
import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its exit code."""
    # No command benefits from more than one BLAS thread, and idle BLAS threads would slow down this program's threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from punish_fast.cli.app import run
        from punish_fast.cli.frame.streams import prepare_streams

        prepare_streams()
        code = run()
        _ignore_signals()
    except KeyboardInterrupt:
        _ignore_signals()
        print("interrupted", file=sys.stderr)
        code = _INTERRUPTED
    sys.exit(code)


def _ignore_signals() -> None:
    # The command has finished. An interrupt while Python shuts down would only print a traceback.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()

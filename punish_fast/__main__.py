"""Entry point of the ``punish-fast`` command."""

from __future__ import annotations

import gc
import os
import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    # What is imported stays; looking for garbage among it takes an eighth of the start. `prepare_kernels` ends this.
    gc.disable()
    # Nothing here needs a BLAS; its idle threads would only compete with ours.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from punish_fast.cli.app import run

        code = run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = _INTERRUPTED
    # The work is done; an interrupt from here on would only make it look otherwise.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Files are tidy and all is printed by now. Taking down every module takes as long as some sweeps, and threads that
    # an interrupt caught while they were starting would be waited for in vain.
    os._exit(code)


if __name__ == "__main__":
    main()

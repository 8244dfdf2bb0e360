"""Framework of all commands: options, help, errors, streams, reports and progress."""

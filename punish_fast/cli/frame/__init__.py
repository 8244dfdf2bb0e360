"""What all commands share: options, help, errors, streams, reports and progress."""

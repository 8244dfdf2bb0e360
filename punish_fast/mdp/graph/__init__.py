"""The graph of a process: end components, reachable states, parts of a process."""

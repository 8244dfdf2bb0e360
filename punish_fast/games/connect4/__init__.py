"""Connect Four: rules, exact solver, opening book and oracle."""

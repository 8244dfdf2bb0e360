"""The game itself: rules, codes, states, transitions."""

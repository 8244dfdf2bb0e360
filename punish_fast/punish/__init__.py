"""The game of Punish: rules, codes, states and transitions."""

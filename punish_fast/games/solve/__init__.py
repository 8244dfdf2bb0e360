"""Perfect play of games whose positions can be enumerated."""

"""Solution methods, the rungs of the ladder (``ladder.py``)."""

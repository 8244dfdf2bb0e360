"""Commands that study games under house rules."""

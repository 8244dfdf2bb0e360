"""Enemies: strategies written down or learned from recorded choices. Arrays come in, strategy tables go out."""

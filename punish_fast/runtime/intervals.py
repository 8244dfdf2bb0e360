"""Confidence intervals of proportions."""

from math import sqrt

# Quantile of the normal distribution for 95 % confidence intervals.
Z_95 = 1.959963984540054


def wilson_interval(share: float, games: float) -> tuple[float, float]:
    """Return the 95 % Wilson score interval (Wilson, 1927) for a share of wins in ``games`` independent games."""
    z2 = Z_95**2 / games
    middle = (share + z2 / 2) / (1 + z2)
    half = sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
    return max(middle - half, 0.0), min(middle + half, 1.0)

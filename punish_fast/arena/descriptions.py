"""Short descriptions of the built-in agents."""

DESCRIPTIONS = {
    "random": "plays every legal action with equal probability",
    "naive": "plays the best response to random, under the true redeal",
    "careful": "guards or dodges, and attacks only a resting enemy",
    "aggressive": "plays its strongest attack, and feints only without one",
    "punisher": "dodges until the enemy rests, then plays its strongest attack",
    "veteran": "plays close to an equilibrium, under the standard rules alone",
}

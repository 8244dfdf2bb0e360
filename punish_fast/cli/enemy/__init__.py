"""``punish-fast enemy``: a family of commands, each in its own file."""

from punish_fast.cli.frame.family import family

enemy = family(
    "enemy",
    "Create enemies to solve against, and show how they play.",
    "punish-fast enemy parless --db games.db --winners -o champion.h5",
    "punish-fast enemy show champion.h5",
    "punish-fast solve --enemy champion.h5",
    package=__name__,
    panels={"Commands": ("parless", "pawnn", "logit", "import_flux", "validate", "show")},
)

"""Games other than Punish: rules, exact solvers, players and learners."""

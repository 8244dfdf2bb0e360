"""Graph analysis of MDPs: end components, reachability and restrictions."""

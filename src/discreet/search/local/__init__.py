"""Local recoding on the lattice: each group of records stands at a node of its own."""

"""Full-domain and subtree generalisation: one node of the lattice, or one cut of each hierarchy, for the table."""

"""How values become other values, by chance or by rule, in the rows themselves: the families beside generalisation."""

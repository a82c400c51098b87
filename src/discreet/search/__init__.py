"""Which change is best: the problem, the methods that solve it, and what must stay as it is."""

"""Where rows live: the engines and the only SQL."""

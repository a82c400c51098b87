"""What a search may minimise: losses per cell and per class, and the registry of their names."""

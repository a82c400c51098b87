"""What follows from knowing that no more was changed than the requirements ask for."""

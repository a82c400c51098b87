"""What an intruder can do to a release: attacks, tried out and counted."""

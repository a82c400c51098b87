"""What is shown of comparisons and attacks."""

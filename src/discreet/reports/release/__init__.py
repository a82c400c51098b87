"""What is shown of a release."""

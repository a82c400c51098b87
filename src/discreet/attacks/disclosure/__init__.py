"""What the release says about a person's sensitive value."""

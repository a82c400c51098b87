"""What was lost: measures of an original and its release, what can still be learned, and figures asked for."""

"""How a file is written, found from its content."""

"""Drawing: plain numbers become inline SVG whose colours the page chooses."""

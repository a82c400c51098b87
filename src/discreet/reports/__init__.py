"""Everything that is shown: words, figures, charts, and the pages made of them."""

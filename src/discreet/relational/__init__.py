"""Several tables about the same people: keys that tie them, judged and released together."""

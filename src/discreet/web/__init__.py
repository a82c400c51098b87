"""The local page and its REST interface: the library's verbs for people who do not write Python."""

"""How exposed the people in a table are: per record, per attribute, and in the population behind it."""

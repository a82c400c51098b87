"""What is known about values without looking at the data: countries, education, classifications of diseases."""

"""Files on disk: what may be read, how results are written, and private folders."""

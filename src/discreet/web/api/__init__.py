"""The REST interface under /api/v1: its routes, and the parameters of every kind of job."""

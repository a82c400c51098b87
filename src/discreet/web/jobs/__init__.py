"""Long work in processes of its own: the scheduler and its workers, the verbs as jobs, and what they keep of a case."""

"""Background work: chunks, leases, queues and the page of a job. `kinds.py` is the table of kinds of jobs."""

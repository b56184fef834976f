"""The privacy core: guarantees, plans, accounting, queries, rows, noise and the curator."""

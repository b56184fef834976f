"""Before anything is spent: what a run would give, from public facts and made-up or public people alone."""

"""Many runs on public data: what to run, where, what is kept of it, and what it comes to."""

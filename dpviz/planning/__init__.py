"""Forecast a run before anything is spent, from public facts and made-up or public people alone."""

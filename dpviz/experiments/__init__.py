"""Sweeps, jobs and audits."""

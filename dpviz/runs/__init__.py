"""Runs of one algorithm on one data set: a single run, reruns, Alex's two worlds, simulations."""

"""The grid family: EUGkM, Continual, DP-DBSCAN."""

"""The evolution family: PE-means, HDPE-means, Aug-PE."""

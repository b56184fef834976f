"""The five papers as experiments: the claim of each figure and table, and whether our reruns agree."""

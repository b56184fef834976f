"""The five papers as experiments: what each figure and table claims, and whether our reruns say the same."""

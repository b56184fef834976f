"""The tree family: DPM, PrivTree, EM-MC, LSH-Splits."""

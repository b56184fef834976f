"""A benchmark of private clustering: families of generated data, in boxes as people declare them."""

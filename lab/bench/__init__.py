"""A benchmark of private clustering: families of generated data, in boxes as people declare them.

`dpviz bench` runs it. The seeds of the generators follow from the last commit that changed a method, so no method can
be tuned on the rows on which it is judged. Change `VERSION` with any change of the families, boxes or measures.
"""

__all__ = ["VERSION"]

VERSION = 1

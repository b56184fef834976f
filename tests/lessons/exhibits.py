"""Make each exhibit of a lesson once for all tests."""

from functools import cache

from dpviz import lessons

__all__ = ["exhibit"]

exhibit = cache(lessons.exhibit)

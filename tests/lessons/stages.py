"""Make each stage of a lesson once for all tests."""

from functools import cache

from dpviz import lessons

__all__ = ["stage"]

stage = cache(lessons.stage)

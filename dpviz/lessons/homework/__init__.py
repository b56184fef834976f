"""Homework for every lesson: tasks on numbers of a student's own, a notebook, and a check that runs nobody's code."""

from dpviz.lessons.homework.check import COLUMNS, check, checked
from dpviz.lessons.homework.notebook import MOST_NAME, file_name, notebook
from dpviz.lessons.homework.tasks import Task, tasks

__all__ = ["COLUMNS", "MOST_NAME", "Task", "check", "checked", "file_name", "notebook", "tasks"]

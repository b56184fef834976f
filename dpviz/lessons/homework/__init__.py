"""Homework for every lesson: tasks on numbers of a student's own, a notebook, and a check that runs nobody's code.

Lessons in the app and on the static site also give answer codes, which the same check reads.
"""

from dpviz.lessons.homework.check import COLUMNS, check, checked
from dpviz.lessons.homework.codes import code, script
from dpviz.lessons.homework.notebook import MOST_NAME, file_name, notebook
from dpviz.lessons.homework.tasks import Task, tasks

__all__ = ["COLUMNS", "MOST_NAME", "Task", "check", "checked", "code", "file_name", "notebook", "script", "tasks"]

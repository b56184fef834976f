"""Widgets made from parameters: fields, numbers, budgets, the picker of an algorithm."""

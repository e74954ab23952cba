"""Waste and what to do about it: an object a rule, and the one list of actions."""

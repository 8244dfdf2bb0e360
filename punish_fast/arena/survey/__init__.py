"""Surveys of house rules: points, studies, stored results, tables and plots."""

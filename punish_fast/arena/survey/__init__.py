"""Surveys of house rules: points, studies, kept results, tables and plots."""

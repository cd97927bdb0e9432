"""A second decoder of .tms files in plain Python, written from docs/format*.md alone.

It is slow and simple on purpose: its use is to tell whether the documents say what the library
does.
"""

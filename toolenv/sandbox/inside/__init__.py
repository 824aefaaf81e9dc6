"""What runs inside the sandbox's process: the standard library alone, nothing of ``toolenv``.

``start.py`` is the program. It loads this package by itself, under a name of its own, so that no package of
the host is imported; the modules here import each other by relative imports only.
"""

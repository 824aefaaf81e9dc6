"""Reports: episodes in, rows out; rows to JSON, to a terminal, to a page.

:func:`~toolenv.report.rows.build_rows` makes the rows; :mod:`~toolenv.report.serial`,
:mod:`~toolenv.report.terminal` and :mod:`~toolenv.report.page` show them.
"""

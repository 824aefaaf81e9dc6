"""Human verification (paper 1, §3.3 and Appendix A): which tasks people look at, and what they say of them.

A sample file (:mod:`.sample`) is drawn from the masked tasks of environments (:mod:`.draw`). Two annotators
answer one question of every item, in the terminal (:mod:`.terminal`) or on a local page (:mod:`.server`),
each into a file of their own (:mod:`.answers`); a third file settles what they disagree on
(:mod:`.verdict`).
"""

"""Paper 2's own pipeline with a model: topic → scenario → task → tools → hazard → checks (§3, appendix).

:mod:`.prompts` and :mod:`.asking` ask a model for parts, :mod:`.checks` looks at what came, :mod:`.making`
makes one candidate of it, :mod:`.log` keeps candidates, :mod:`.writing` writes the accepted ones as a tree in
ToolBench-X's layout. Model-written code is run in :mod:`toolenv.sandbox` and nowhere else.
``docs/generation.md`` is for users.
"""

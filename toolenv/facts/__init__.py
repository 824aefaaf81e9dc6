"""What an episode's record keeps beside its verdict: facts of the task, of the hazard, of the reaction.

They are read once, when an episode ends, from its task and its trace: tables need neither data nor traces.
All of them are truth, and never part of an observation.
"""

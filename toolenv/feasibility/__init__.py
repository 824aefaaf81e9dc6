"""Feasibility: from traces to critical tools to masks."""

"""Many rollouts: what to run, running it, and keeping what came out."""

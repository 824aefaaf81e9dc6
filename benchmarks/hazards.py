"""What a hazard costs: steps per second of perturbed episodes against clean ones, the same decisions played.

A step of a perturbed environment, fired or not, costs at most :data:`ALLOWED` times a clean one. Two numbers per
hazard: over whole episodes, and for the calls of the armed tool alone.
"""

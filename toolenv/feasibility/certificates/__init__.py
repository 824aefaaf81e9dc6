"""Certificates: for each masked task a proof that it can be solved, one that it cannot, or neither.

``checker`` verifies certificates and imports nothing of what finds them (``search``, ``certify``).
"""

"""The second pair of eyes: recompute every model from the published text alone.

This package shares no code with what it checks; of the rest of the core it imports only the errors.
"""

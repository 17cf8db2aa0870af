"""Questions that people ask of a result, answered with figures computed for the purpose."""

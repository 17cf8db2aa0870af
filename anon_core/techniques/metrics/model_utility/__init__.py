"""Model utility: a model trained on the release beside one trained on the table."""

from anon_core.techniques.metrics.model_utility.model_utility import ModelUtility

__all__ = ["ModelUtility"]

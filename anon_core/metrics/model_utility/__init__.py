"""Model utility: a model trained on the release beside one trained on the table."""

from .model_utility import ModelUtility

__all__ = ["ModelUtility"]

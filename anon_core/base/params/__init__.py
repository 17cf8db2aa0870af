"""Parameters, declared once: the declaration validates, words the error and builds the form."""

from .declaring import (
    by_column,
    by_value,
    choice,
    flag,
    integer,
    nested,
    number,
    own_queries,
    private_column,
    quasi_columns,
    sensitive_column,
    sets_of_columns,
)
from .parameter import Kind, Parameter
from .structured import FrozenMap
from .technique import Technique

__all__ = [
    "FrozenMap",
    "Kind",
    "Parameter",
    "Technique",
    "by_column",
    "by_value",
    "choice",
    "flag",
    "integer",
    "nested",
    "number",
    "own_queries",
    "private_column",
    "quasi_columns",
    "sensitive_column",
    "sets_of_columns",
]

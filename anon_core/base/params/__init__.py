"""Parameters, declared once: the declaration validates, words the error and builds the form."""

from anon_core.base.params.declarations import (
    Technique,
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
    text,
)
from anon_core.base.params.parameter import Kind, Parameter
from anon_core.base.params.structured_parameter import FrozenMap

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
    "text",
]

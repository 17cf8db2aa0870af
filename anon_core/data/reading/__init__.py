"""Reading a table: CSV or Parquet bytes become a `Dataset`, or an error that says what to do.

The bytes are loaded and unpacked (`loading`), told apart by their content (`formats`), and read as
CSV (`delimited`) or as Parquet (`parquet`); either way each column comes from `columns`.
"""

from .any_format import read_table
from .limits import MOST_BYTES, MOST_BYTES_OF_COMMANDS, MOST_COLUMNS
from .options import DataOptions, Missing
from .separator import SEPARATORS

__all__ = [
    "MOST_BYTES",
    "MOST_BYTES_OF_COMMANDS",
    "MOST_COLUMNS",
    "SEPARATORS",
    "DataOptions",
    "Missing",
    "read_table",
]

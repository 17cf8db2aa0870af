"""Reading a table: the bytes of a file become a `Dataset`, or an error that says what to do.

The bytes are loaded and unpacked (`loading`), distinguished by their content (`any_format`), and
read as CSV (`delimited`), Parquet (`parquet`), a sheet of a workbook (`spreadsheet`), or as SPSS,
Stata and SAS write (`statistics_file`); in any case each column comes from `columns`.
A folder holds the `parts` of one table (`folder`).
"""

from anon_core.data.reading.any_format import file_kind, read_table
from anon_core.data.reading.encoding import SEPARATORS
from anon_core.data.reading.limits import MOST_BYTES, MOST_BYTES_OF_COMMANDS, MOST_COLUMNS
from anon_core.data.reading.loading import READABLE, FileKind
from anon_core.data.reading.notation import DATE_ORDERS, DECIMAL_MARKS
from anon_core.data.reading.options import DataOptions, Missing

__all__ = [
    "DATE_ORDERS",
    "DECIMAL_MARKS",
    "MOST_BYTES",
    "MOST_BYTES_OF_COMMANDS",
    "MOST_COLUMNS",
    "READABLE",
    "SEPARATORS",
    "DataOptions",
    "FileKind",
    "Missing",
    "file_kind",
    "read_table",
]

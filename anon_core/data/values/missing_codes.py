"""Values that usually stand for a missing one: counted as values until somebody says otherwise."""

from __future__ import annotations

from anon_core.data.column import Column
from anon_core.data.table import MISSING_TOKENS

#: As surveys and registers write them, apart from what is read as missing anyway. Codes of one
#: digit are left out, since they are as often values.
USUAL_CODES = frozenset(
    {
        *("-9", "-99", "-999", "-9999", "99", "999", "9999", "-", "--", ".", "..", "n.a.", "n/k"),
        *("#n/a", "#null!", "missing", "unknown", "not known", "not stated", "not recorded"),
        *("not available", "not applicable", "unspecified", "no answer", "don't know", "undefined"),
    }
)


def rows_with_codes(column: Column) -> int:
    """Return how many rows have a value that usually stands for a missing one."""
    told = enumerate(column.values)
    codes = [i for i, text in told if text.casefold() in USUAL_CODES or text in MISSING_TOKENS]
    return int(column.counts[codes].sum())

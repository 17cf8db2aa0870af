"""A query's rows as a Parquet file: what a release is made of and verified from stays as it is.

SQLAlchemy talks to the database. No message holds its password, nor what a driver says: that may
quote cells, and is kept separate as cell values are.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, quote_plus

from anon_core.base.errors import BadInput
from anon_core.data.frames import plain_text
from anon_core.data.reading.limits import MOST_CELLS, MOST_COLUMNS, too_many_cells, too_wide
from anon_core.data.table import check_names

if TYPE_CHECKING:
    from sqlalchemy import URL

#: The environment's variable that a password is taken from, so that no command line shows it.
PASSWORD = "ANONYMITY_DATABASE_PASSWORD"
_ROWS = 10_000
_PIP = 'pip install "anonymity-workbench[sql]"'


def queried(database: str, sql: str) -> tuple[bytes, int]:
    """Return what a query finds as the bytes of a Parquet file, and its number of rows.

    Nothing is committed: a query that changes the database is undone.

    Parameters
    ----------
    database : str
        Its address as SQLAlchemy reads it, such as ``sqlite:///file.db`` or
        ``postgresql+psycopg://reader@host/name``.
    sql : str
        One query.

    Raises
    ------
    BadInput
        If the address cannot be read, the database cannot be reached, or the query is refused or
        finds no rows.
    """
    try:
        import sqlalchemy
        from sqlalchemy import exc
    except ModuleNotFoundError as error:
        raise BadInput(
            "A database is read with SQLAlchemy, which is not here.", remedy=f"{_PIP}."
        ) from error
    try:
        url = sqlalchemy.make_url(database)
    except (exc.ArgumentError, ValueError):  # which quote the address
        raise BadInput(
            "The address of the database cannot be read.",
            remedy="Write it as dialect://user@host/name, or sqlite:///file.db; an at sign within "
            "a name as %40.",
        ) from None
    if url.password is None and (given := os.environ.get(PASSWORD)):
        url = url.set(password=given)
    place = url.set(username=None, password=None, query={}).render_as_string(hide_password=True)
    try:
        engine = sqlalchemy.create_engine(url, hide_parameters=True)
        with engine.connect() as connection:
            found = connection.execute(sqlalchemy.text(sql))
            if not found.returns_rows:
                raise BadInput("The statement returns no rows.", remedy="Write one that selects.")
            names = [*map(str, found.keys())]
            _check(names)
            rows = _all(found, names)
    except BadInput:
        raise
    except ModuleNotFoundError as error:
        raise BadInput(
            f"The driver for {place} is not here: {error.name}.",
            remedy=f"pip install {error.name}, or name another driver in the address.",
        ) from None
    except (exc.SQLAlchemyError, OSError, TypeError, ValueError) as error:
        raise BadInput(
            f"{place} refused the query or cannot be reached ({type(error).__name__}).",
            remedy="Check address, user, password and query; --show-values prints what it "
            "answered.",
            values=[_without_password(str(error), url)],
        ) from None
    return _parquet(names, rows), len(rows)


def _check(names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise too_wide("The query", len(names))
    try:
        check_names(names)
    except BadInput as error:
        raise BadInput(
            f"The query's result: {error.message}", remedy="Name its columns with AS."
        ) from None


def _all(found: Any, names: Sequence[str]) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = []
    while part := cast(list[Sequence[object]], found.fetchmany(_ROWS)):
        rows += part
        if len(rows) * len(names) > MOST_CELLS:
            raise too_many_cells("The query's result", len(rows), len(names))
    if not rows:
        raise BadInput("The query finds no rows.", remedy="Widen its conditions.")
    return rows


def _parquet(names: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: list[pa.Array[Any]] = []
    for place, name in enumerate(names):
        cells = [row[place] for row in rows]
        if any(isinstance(cell, bytes | bytearray | memoryview) for cell in cells):
            raise BadInput(
                f"Column '{name}' of the query's result holds raw bytes.",
                remedy="Leave it out, or turn it into text in the query.",
            )
        try:
            columns.append(pa.array(cast(Any, cells)))
        except (pa.ArrowException, TypeError, OverflowError):  # of several types, or one of its own
            texts = [None if cell is None else plain_text(cell) for cell in cells]
            columns.append(pa.array(texts, type=pa.string()))
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=list(names)), sink)
    return sink.getvalue()


def _without_password(text: str, url: URL) -> str:
    """Return a driver's words without the password, however it is written there."""
    secret = None if url.password is None else str(url.password)
    for shown in (secret, secret and quote(secret, safe=""), secret and quote_plus(secret)):
        if shown:
            text = text.replace(shown, "***")
    return text

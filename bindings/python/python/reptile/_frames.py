"""Appends columns of verdicts to frames, for ``Set.with_verdicts``."""

from collections.abc import Callable, Sequence
from typing import Any

from ._native import Verdicts


def with_verdicts(
    decide: Callable[..., Verdicts], frame: Any, columns: str | Sequence[str] | None, **options: Any
) -> Any:
    """Returns a frame with the columns that ``decide`` returns for its URLs."""
    kind = type(frame)
    # A class derived from one of these, such as a GeoDataFrame, is appended to in the same way.
    found = (_APPEND.get((base.__module__.partition(".")[0], base.__name__)) for base in kind.__mro__)
    append = next(filter(None, found), None)
    if append is None:
        hint = "; for a lazy frame use reptile.polars.robots" if kind.__name__ == "LazyFrame" else ""
        found_kind = f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"expected a DataFrame of pandas or Polars, or a pyarrow.Table, found {found_kind}{hint}")
    return append(decide, frame, columns, options)


def _refuse_clash(known: Sequence[object], verdicts: Verdicts) -> None:
    for name in verdicts.column_names:
        if name in known:
            raise ValueError(f"the frame already has a column {name!r}; drop or rename it")


def _read(options: dict[str, Any], known: Sequence[object]) -> list[str] | None:
    """Returns the columns that are read, or None if the schema determines the column with URLs."""
    url = options.get("url_column") or ("url" if "url" in known else None)
    times = options.get("times")
    names = [name for name in (url, times) if isinstance(name, str)]
    return names if url is not None and all(name in known for name in names) else None


def _pandas(decide: Callable[..., Verdicts], frame: Any, columns: Any, options: dict[str, Any]) -> Any:
    # Other columns may have types that Arrow does not know.
    read = _read(options, list(frame.columns))
    given = (frame if read is None else frame[read]).reset_index(drop=True)
    if read is not None:
        url, *times = read
        # Missing values turn whole numbers into floats, and a column without values has a numeric type.
        kinds = {name: "Int64" for name in times if given[name].dtype.kind == "f"}
        given = given.astype({**kinds, **({} if given[url].notna().any(axis=None) else {url: "string"})})
    verdicts = decide(given, columns, **options)
    _refuse_clash(list(frame.columns), verdicts)
    added = verdicts.to_pandas()
    # Arrays are appended by position, so that the index does not matter.
    return frame.assign(**{name: added[name].array for name in added})


def _polars(decide: Callable[..., Verdicts], frame: Any, columns: Any, options: dict[str, Any]) -> Any:
    read = _read(options, frame.columns)
    verdicts = decide(frame if read is None else frame.select(read), columns, **options)
    _refuse_clash(frame.columns, verdicts)
    return frame.hstack(verdicts.to_polars().get_columns())


def _pyarrow(decide: Callable[..., Verdicts], frame: Any, columns: Any, options: dict[str, Any]) -> Any:
    read = _read(options, frame.column_names)
    verdicts = decide(frame if read is None else frame.select(read), columns, **options)
    _refuse_clash(frame.column_names, verdicts)
    added = verdicts.to_arrow()
    for field, column in zip(added.schema, added.columns):
        frame = frame.append_column(field, column)
    return frame


_APPEND: dict[tuple[str, str], Callable[..., Any]] = {
    ("pandas", "DataFrame"): _pandas,
    ("polars", "DataFrame"): _polars,
    ("pyarrow", "Table"): _pyarrow,
}
"""The functions for frames, by the package and name of their class."""

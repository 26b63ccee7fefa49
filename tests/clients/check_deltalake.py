"""deltalake: appends by several writers at once are all kept; delete, compaction and vacuum."""

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from example import options

url = "az://deltalake/table"
data = pa.table({"a": range(1000)})
writers = 6


def append(_: int) -> None:
    write_deltalake(url, data, mode="append", storage_options=options)


def rows(table: DeltaTable) -> int:
    return table.to_pyarrow_table().num_rows


append(0)
with ThreadPoolExecutor(writers) as pool:
    list(pool.map(append, range(writers)))
table = DeltaTable(url, storage_options=options)
assert table.version() == writers, table.version()
assert rows(table) == 1000 * (writers + 1)

table.delete("a < 500")
table.optimize.compact()
table.vacuum(0, enforce_retention_duration=False, dry_run=False)
assert rows(DeltaTable(url, storage_options=options)) == 500 * (writers + 1)

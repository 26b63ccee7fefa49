"""DuckDB with its azure extension, from the Python package: reads, writes, globs."""

from pathlib import Path

import duckdb
import duckdb_extension_azure

folder = Path(duckdb_extension_azure.__file__).parent / "extensions" / f"v{duckdb.__version__}"
connection = duckdb.connect()
connection.execute(f"LOAD '{folder / 'azure.duckdb_extension'}'")
connection.execute(Path(__file__).with_name("example.sql").read_text())
assert connection.fetchall() == [(1000,)]

parts = "az://container/parts"
query = "SELECT range AS a, range % 3 AS k FROM range(300)"
connection.execute(f"COPY ({query}) TO '{parts}' (FORMAT parquet, PARTITION_BY (k))")
count = f"SELECT count(*), sum(a) FROM '{parts}/*/*.parquet'"
assert connection.execute(count).fetchall() == [(300, 44850)]

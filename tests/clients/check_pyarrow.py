"""pyarrow on a flat account: files, data sets, directories, copies and deletes."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType

from example import files

rows = 10_000
table = pa.table({"a": range(rows), "b": [f"x{i % 7}" for i in range(rows)]})

files.create_dir("pyarrow")
pq.write_table(table, "pyarrow/folder/one.parquet", filesystem=files)
assert pq.read_table("pyarrow/folder/one.parquet", filesystem=files).equals(table)
assert files.get_file_info("pyarrow/folder").type == FileType.Directory
assert files.get_file_info("pyarrow/none").type == FileType.NotFound

hive = ds.partitioning(pa.schema([("b", pa.string())]), flavor="hive")
ds.write_dataset(table, "pyarrow/set", format="parquet", partitioning=hive, filesystem=files)
written = ds.dataset("pyarrow/set", format="parquet", partitioning=hive, filesystem=files)
assert written.count_rows() == rows

files.create_dir("pyarrow/empty/sub", recursive=True)
files.copy_file("pyarrow/folder/one.parquet", "pyarrow/folder/two.parquet")
files.delete_file("pyarrow/folder/one.parquet")
files.delete_dir("pyarrow/set")
files.delete_dir_contents("pyarrow/empty")
left = files.get_file_info(FileSelector("pyarrow", recursive=True))
assert [one.path for one in left if one.is_file] == ["pyarrow/folder/two.parquet"], left
files.delete_dir("pyarrow")
assert files.get_file_info("pyarrow").type == FileType.NotFound

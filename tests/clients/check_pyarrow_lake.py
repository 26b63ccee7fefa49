"""pyarrow on a hierarchical account: directories, moves, appends and data sets."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType

from example import files


def paths():
    found = files.get_file_info(FileSelector("lake", recursive=True))
    return sorted(each.path for each in found)


def fails(action):
    try:
        action()
    except OSError:
        return True
    return False


rows = 10_000
table = pa.table({"a": range(rows), "b": [f"x{i % 7}" for i in range(rows)]})

files.create_dir("lake")
files.create_dir("lake/a/b", recursive=True)
pq.write_table(table, "lake/a/one.parquet", filesystem=files)
files.move("lake/a/one.parquet", "lake/a/b/two.parquet")
files.move("lake/a", "lake/moved")
assert paths() == ["lake/moved", "lake/moved/b", "lake/moved/b/two.parquet"], paths()
assert fails(lambda: files.move("lake/none", "lake/x"))
assert fails(lambda: files.move("lake/moved", "lake/none/x"))
files.create_dir("lake/full/x", recursive=True)
assert fails(lambda: files.move("lake/moved", "lake/full"))
files.create_dir("lake/empty")
files.move("lake/moved", "lake/empty")
assert pq.read_table("lake/empty/b/two.parquet", filesystem=files).equals(table)

with files.open_output_stream("lake/text", metadata={"Content-Type": "text/plain"}) as out:
    out.write(b"abc")
with files.open_append_stream("lake/text") as out:
    out.write(b"def")
with files.open_input_stream("lake/text") as text:
    assert text.read() == b"abcdef"
assert files.get_file_info("lake/text").type == FileType.File
assert fails(lambda: files.delete_dir("lake/text"))

hive = ds.partitioning(pa.schema([("b", pa.string())]), flavor="hive")
ds.write_dataset(table, "lake/set", format="parquet", partitioning=hive, filesystem=files)
written = ds.dataset("lake/set", format="parquet", partitioning=hive, filesystem=files)
assert written.count_rows() == rows

files.delete_dir("lake/set")
files.delete_dir("lake/full")
files.delete_dir_contents("lake/empty")
assert paths() == ["lake/empty", "lake/text"], paths()
files.delete_dir("lake")
assert files.get_file_info("lake").type == FileType.NotFound

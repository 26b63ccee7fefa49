"""adlfs on a hierarchical account: files, listings, copies, moves and deletes."""

from example import files

files.mkdir("adlfs")
with files.open("adlfs/dir/sub/a.txt", "wb") as out:
    out.write(b"hello")
assert files.cat("adlfs/dir/sub/a.txt") == b"hello"
assert files.isdir("adlfs/dir") and files.isfile("adlfs/dir/sub/a.txt")
assert not files.exists("adlfs/dir/none")
files.touch("adlfs/empty")
assert files.find("adlfs") == ["adlfs/dir/sub/a.txt", "adlfs/empty"]
assert files.glob("adlfs/**/*.txt") == ["adlfs/dir/sub/a.txt"]
assert [folder for folder, _, _ in files.walk("adlfs")] == ["adlfs", "adlfs/dir", "adlfs/dir/sub"]

files.pipe("adlfs/large", bytes(10_000_000))
files.invalidate_cache()
assert files.info("adlfs/large")["size"] == 10_000_000
assert len(files.cat_file("adlfs/large", 5, 20)) == 15

files.mv("adlfs/dir/sub/a.txt", "adlfs/dir2/b.txt")
files.cp("adlfs/dir2/b.txt", "adlfs/c.txt")
files.rm("adlfs/dir2", recursive=True)
files.invalidate_cache()
assert files.find("adlfs", withdirs=True) == [
    "adlfs/c.txt",
    "adlfs/dir",
    "adlfs/dir/sub",
    "adlfs/empty",
    "adlfs/large",
]
files.rm("adlfs", recursive=True)
assert not files.exists("adlfs")

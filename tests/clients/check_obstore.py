"""obstore, the Python binding of object_store: puts in parts, conditions, ranges, lists."""

import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import AzureStore

from example import options

store = AzureStore("obstore", config=options)
large = bytes(12_000_000)
obstore.put(store, "a/one", b"hello")
obstore.put(store, "a/large", large)
try:
    obstore.put(store, "a/one", b"other", mode="create")
    raise AssertionError("created twice")
except AlreadyExistsError:
    pass
assert bytes(obstore.get(store, "a/large").bytes()) == large
assert bytes(obstore.get_range(store, "a/one", start=1, end=3)) == b"el"
obstore.copy(store, "a/one", "a/two")
obstore.rename(store, "a/two", "a/three")
names = [one["path"] for one in obstore.list(store).collect()]
assert names == ["a/large", "a/one", "a/three"], names
obstore.delete(store, names)
assert obstore.list(store).collect() == []

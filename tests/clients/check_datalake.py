"""azure-storage-file-datalake: files, renames, access control, leases, signatures, soft delete."""

from datetime import datetime, timedelta, timezone

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.storage.filedatalake import (
    DataLakeServiceClient,
    RetentionPolicy,
    generate_directory_sas,
)
from example import KEY, service

PERSON = "11111111-2222-3333-4444-555555555555"


def code_of(action):
    try:
        action()
    except HttpResponseError as error:
        return error.error_code
    raise AssertionError("an error was expected")


def names(filesystem, **selection):
    return [path.name for path in filesystem.get_paths(**selection)]


filesystem = service.create_file_system("datalake")
assert "datalake" in [each.name for each in service.list_file_systems()]
directory = filesystem.create_directory("dir/sub")

# Appended data is visible when it is flushed.
file = directory.create_file("a.txt", metadata={"colour": "red"})
file.append_data(b"world", 6)
file.append_data(b"hello ", 0)
assert file.get_file_properties().size == 0
file.flush_data(11)
assert file.download_file().readall() == b"hello world"
assert file.get_file_properties().metadata == {"colour": "red"}
assert code_of(lambda: file.flush_data(20)) == "InvalidFlushPosition"
large = bytes(range(256)) * 40_000
file.upload_data(large, overwrite=True)
assert file.download_file().readall() == large

# Access control, also of everything below a directory.
directory.set_access_control(acl=f"user::rwx,group::r-x,other::---,default:user:{PERSON}:rwx")
assert f"default:user:{PERSON}:rwx" in directory.get_access_control()["acl"]
changed = directory.update_access_control_recursive(acl=f"user:{PERSON}:r-x")
assert changed.counters.files_successful == 1
assert changed.counters.directories_successful == 1
file.set_access_control(permissions="0640", owner=PERSON)
assert file.get_access_control()["owner"] == PERSON

# A rename moves everything below a directory.
moved = directory.rename_directory("datalake/moved dir")
assert names(filesystem) == ["dir", "moved dir", "moved dir/a.txt"]
file = moved.get_file_client("a.txt").rename_file("datalake/b.txt")
assert file.download_file().readall() == large
assert code_of(lambda: moved.rename_directory("datalake/none/x")) is not None

lease = file.acquire_lease(15)
assert code_of(lambda: file.append_data(b"x", 0)) == "LeaseIdMissing"
file.append_data(b"x", len(large), lease=lease)
lease.release()
file.set_file_expiry("RelativeToNow", expires_on=3_600_000)
assert file.get_file_properties().expiry_time is not None

# Pages, and a signature for one directory.
for number in range(25):
    moved.create_file(f"n{number:02}")
pages = list(filesystem.get_paths("moved dir", max_results=10).by_page())
assert [len(list(page)) for page in pages] == [10, 10, 5]
signature = generate_directory_sas(
    "devstoreaccount1",
    "datalake",
    "moved dir",
    KEY,
    permission="rcwdl",
    expiry=datetime.now(timezone.utc) + timedelta(hours=1),
)
limited = DataLakeServiceClient(service.url, credential=signature).get_file_system_client("datalake")
limited.get_file_client("moved dir/signed").upload_data(b"abc", overwrite=True)
assert "moved dir/signed" in names(limited, path="moved dir")
assert code_of(limited.get_file_client("b.txt").delete_file) is not None

moved.delete_directory()
assert not moved.exists()
assert names(filesystem) == ["b.txt", "dir"]

# A deleted path comes back.
service.set_service_properties(delete_retention_policy=RetentionPolicy(enabled=True, days=1))
file.delete_file()
(deleted,) = filesystem.list_deleted_paths()
filesystem._undelete_path(deleted.name, deleted.deletion_id)
assert file.download_file().readall() == large
service.set_service_properties(delete_retention_policy=RetentionPolicy(enabled=False))

filesystem.delete_file_system()
try:
    filesystem.get_file_system_properties()
    raise AssertionError("the filesystem is still there")
except ResourceNotFoundError:
    pass

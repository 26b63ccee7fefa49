"""DefaultAzureCredential: a put, a lease and an entity transaction without an account key."""
import os
from azure.data.tables import TableServiceClient
from azure.identity import DefaultAzureCredential
from azure.storage.blob import BlobServiceClient

credential = DefaultAzureCredential()
account = "devstoreaccount1"
blobs = BlobServiceClient(f"{os.environ['BLOB_URL']}/{account}", credential=credential)
container = blobs.create_container("python")
blob = container.get_blob_client("blob")
blob.upload_blob(b"text")
lease = blob.acquire_lease(15)
try:
    blob.upload_blob(b"lost", overwrite=True)
    raise SystemExit("a leased blob was replaced")
except Exception as error:
    assert getattr(error, "status_code", None) == 412, error
lease.release()
assert blob.download_blob().readall() == b"text"
tables = TableServiceClient(f"{os.environ['TABLE_URL']}/{account}", credential=credential)
table = tables.create_table("python")
table.submit_transaction([
    ("create", {"PartitionKey": "p", "RowKey": "1", "value": 1}),
    ("create", {"PartitionKey": "p", "RowKey": "2", "value": 2}),
])
assert table.get_entity("p", "2")["value"] == 2
print("ok")

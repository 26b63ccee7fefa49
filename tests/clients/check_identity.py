"""DefaultAzureCredential without an account key: `writes` as a contributor, then `refused`."""
import os
import sys
from datetime import datetime, timedelta, timezone
from azure.core.exceptions import HttpResponseError
from azure.data.tables import TableServiceClient
from azure.identity import DefaultAzureCredential
from azure.storage.blob import BlobClient, BlobSasPermissions, BlobServiceClient, generate_blob_sas

account = "devstoreaccount1"
name = "python"
credential = DefaultAzureCredential(disable_instance_discovery=True)
blobs = BlobServiceClient(f"{os.environ['BLOB_URL']}/{account}", credential=credential)
tables = TableServiceClient(f"{os.environ['TABLE_URL']}/{account}", credential=credential)
blob = blobs.get_container_client(name).get_blob_client("blob")
table = tables.get_table_client(name)


def expect(status, act):
    try:
        act()
    except HttpResponseError as error:
        assert error.status_code == status, error
        return
    raise SystemExit(f"{status} was expected")


def create(row):
    return ("create", {"PartitionKey": "p", "RowKey": row, "value": int(row)})


def sign():
    start = datetime.now(timezone.utc) - timedelta(minutes=1)
    end = start + timedelta(hours=1)
    token = generate_blob_sas(
        account, name, "blob",
        user_delegation_key=blobs.get_user_delegation_key(start, end),
        permission=BlobSasPermissions(read=True, write=True), start=start, expiry=end,
    )
    return f"{blob.url}?{token}"


def writes():
    blobs.create_container(name)
    blob.upload_blob(b"text")
    lease = blob.acquire_lease(15)
    expect(412, lambda: blob.upload_blob(b"lost", overwrite=True))
    lease.release()
    assert blob.download_blob().readall() == b"text"
    tables.create_table(name)
    table.submit_transaction([create("1"), create("2")])
    assert table.get_entity("p", "2")["value"] == 2
    url = sign()
    BlobClient.from_blob_url(url).upload_blob(b"more", overwrite=True)
    with open("sas", "w", encoding="utf8") as file:
        file.write(url)


def refused():
    assert blob.download_blob().readall() == b"more"
    expect(403, lambda: blob.upload_blob(b"none", overwrite=True))
    expect(403, lambda: table.submit_transaction([create("3")]))
    with open("sas", encoding="utf8") as file:
        signed = BlobClient.from_blob_url(file.read())
    expect(403, lambda: signed.upload_blob(b"none", overwrite=True))
    assert signed.download_blob().readall() == b"more"


{"writes": writes, "refused": refused}[sys.argv[1]]()
print("ok")

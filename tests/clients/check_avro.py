"""The segment files of the change feed, read by general readers of Avro."""

import io
import os
import time

import fastavro
from avro.datafile import DataFileReader
from avro.io import DatumReader
from azure.storage.blob import BlobServiceClient

BLOBS = 40

service = BlobServiceClient.from_connection_string(os.environ["CONNECTION_STRING"])
container = service.create_container("avro")
for number in range(BLOBS):
    container.upload_blob(f"blob-{number}", b"hello")
expected = [f"blob-{number}" for number in range(BLOBS)]
feed = service.get_container_client("$blobchangefeed")


def chunks():
    names = [blob.name for blob in feed.list_blobs(name_starts_with="log/")]
    return [feed.download_blob(name).readall() for name in names]


def names_of(records):
    return [record["subject"].rsplit("/", 1)[1] for record in records]


ends_at = time.monotonic() + 60
# Changes appear after about a second.
while (
    found := names_of(record for chunk in chunks() for record in fastavro.reader(io.BytesIO(chunk)))
) != expected:
    assert time.monotonic() < ends_at, found
    time.sleep(0.2)

with_apache = []
for chunk in chunks():
    with DataFileReader(io.BytesIO(chunk), DatumReader()) as records:
        with_apache += names_of(records)
assert with_apache == expected, with_apache

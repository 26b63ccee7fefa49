"""The official reader of the change feed: all changes in order, continued from a cursor."""

import os
import time

from azure.storage.blob import BlobServiceClient
from azure.storage.blob.changefeed import ChangeFeedClient

CONNECTION_STRING = os.environ["CONNECTION_STRING"]
BLOBS = 120

service = BlobServiceClient.from_connection_string(CONNECTION_STRING)
container = service.create_container("changes")
for number in range(BLOBS):
    container.upload_blob(f"blob-{number}", b"hello")
container.delete_blob("blob-0")


def text_of(event):
    return f"{event['eventType']} {event['data']['api']} {event['subject'].rsplit('/', 1)[1]}"


expected = [f"BlobCreated PutBlob blob-{number}" for number in range(BLOBS)]
expected.append("BlobDeleted DeleteBlob blob-0")
feed = ChangeFeedClient.from_connection_string(CONNECTION_STRING)
ends_at = time.monotonic() + 60
# Changes appear after about a second.
while len(found := [text_of(event) for event in feed.list_changes()]) < len(expected):
    assert time.monotonic() < ends_at, found
    time.sleep(0.2)
assert found == expected, found

pages = feed.list_changes(results_per_page=50).by_page()
first = [text_of(event) for event in next(pages)]
token = pages.continuation_token
rest = [
    text_of(event)
    for page in feed.list_changes().by_page(continuation_token=token)
    for event in page
]
assert first + rest == expected, (first, rest)

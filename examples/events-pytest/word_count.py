"""Counts the words of each text that is uploaded to the container `texts`."""

import base64
import json
from urllib.parse import unquote, urlparse


def handle_events(blobs, queue):
    """Handles the events that are in the queue; returns their number."""
    count = 0
    for message in queue.receive_messages():
        event = json.loads(base64.b64decode(message.content))
        name = unquote(urlparse(event["data"]["url"]).path.rsplit("/", 1)[1])
        text = blobs.get_blob_client("texts", name).download_blob().readall().decode()
        counted = blobs.get_blob_client("counts", name)
        counted.upload_blob(str(len(text.split())), overwrite=True)
        queue.delete_message(message)
        count += 1
    return count

"""A server in memory, whose development account delivers events to a queue."""

import json
import os
import re
import shlex
import subprocess
import urllib.request
from types import SimpleNamespace

import pytest
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
ACCOUNT = "devstoreaccount1"
LISTENING = re.compile(r"(\w+)(?: service)? is successfully listening at (\S+)")


@pytest.fixture(scope="session")
def storage(tmp_path_factory):
    subscription = {
        "destination": {"queue": "events"},
        "eventTypes": ["Microsoft.Storage.BlobCreated"],
        "subjectBeginsWith": "/blobServices/default/containers/texts/",
    }
    config = tmp_path_factory.mktemp("etagere") / "config.json"
    accounts = {ACCOUNT: {"subscriptions": {"texts": subscription}}}
    config.write_text(json.dumps({"accounts": accounts}))
    ports = [f"--{name}Port=0" for name in ("blob", "queue", "table", "file", "dfs", "admin")]
    command = shlex.split(os.environ.get("ETAGERE", "etagere"))
    options = ["--inMemoryPersistence", "--noSmb", f"--config={config}", *ports]
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        urls = {}
        for line in server.stdout:
            if found := LISTENING.search(line):
                urls[found[1].lower()] = found[2]
            if "admin" in urls:
                break
        blob, queue, admin = (urls[name] for name in ("blob", "queue", "admin"))
        yield connect(blob, queue, admin)
    finally:
        server.terminate()
        server.wait()


def connect(blob, queue, admin):
    def settled():
        """Waits until all events that were committed before are delivered."""
        request = urllib.request.Request(
            f"{admin}/admin/v1/events/settled",
            data=b"{}",
            headers={"content-type": "application/json", "x-etagere-admin": "1"},
        )
        with urllib.request.urlopen(request) as response:
            assert json.load(response) == {"settled": True}

    blobs = BlobServiceClient(f"{blob}/{ACCOUNT}", credential=KEY)
    queues = QueueServiceClient(f"{queue}/{ACCOUNT}", credential=KEY)
    for name in ("texts", "counts"):
        blobs.create_container(name)
    events = queues.create_queue("events")
    return SimpleNamespace(blobs=blobs, events=events, settled=settled)

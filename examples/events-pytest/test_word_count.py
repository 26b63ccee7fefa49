from word_count import handle_events


def test_counts_the_words_of_an_uploaded_text(storage):
    text = "an event exists if and only if its commit exists"
    storage.blobs.get_blob_client("texts", "a.txt").upload_blob(text)
    storage.settled()
    assert handle_events(storage.blobs, storage.events) == 1
    count = storage.blobs.get_blob_client("counts", "a.txt").download_blob().readall()
    assert count == b"10"


def test_gets_no_event_of_other_containers(storage):
    storage.blobs.get_blob_client("counts", "b.txt").upload_blob("2")
    storage.settled()
    assert handle_events(storage.blobs, storage.events) == 0

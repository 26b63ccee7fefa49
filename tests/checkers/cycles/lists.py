"""Lists to which clients append: the records of an append blob, and the events of a change feed."""

from graph import Graph, MISSED, READ, WRITE


def check_appends(operations):
    """Problems of one append blob. Records end with "|" and are unique."""
    writers = {
        one.arguments["record"]: one for one in operations if one.name == "append"
    }
    reads = [one for one in operations if one.name == "read" and one.is_done]
    seen = {}
    for one in reads:
        text = one.result.get("text", "")
        records = [part + "|" for part in text.split("|")]
        tail = records.pop()[:-1]
        if tail:
            yield f"G1b: {one.id} read a part of a record: {tail[:20]}"
        seen[one.id] = records
    longest = max(seen.values(), key=len, default=[])
    yield from list_problems(longest, writers)
    graph = Graph()
    for one in reads:
        records = seen[one.id]
        if records != longest[: len(records)]:
            yield f"incompatible orders: {one.id} is no prefix of the longest read"
            continue
        if records and records[-1] in writers:
            graph.add(writers[records[-1]].id, one.id, READ)
        if len(records) < len(longest) and longest[len(records)] in writers:
            graph.add(one.id, writers[longest[len(records)]].id, MISSED)
        for record, writer in writers.items():
            if writer.is_done and record not in longest:
                graph.add(one.id, writer.id, MISSED)
    add_order(graph, [writers[record] for record in longest if record in writers])
    graph.add_time([one for one in operations if not one.is_refused])
    yield from graph.anomalies()
    yield from wrong_offsets(longest, writers)


def wrong_offsets(longest, writers):
    offset = 0
    for record in longest:
        writer = writers.get(record)
        if writer is not None and writer.is_done and writer.result.get("offset") != offset:
            yield f"{writer.id} is at {offset}, but the response says {writer.result.get('offset')}"
        condition = writer.arguments.get("position") if writer is not None else None
        if condition is not None and condition != offset:
            yield f"{writer.id} asked for position {condition}, but is at {offset}"
        offset += len(record)


def list_problems(items, writers):
    """Each item was written, by an operation that was not refused, and is there once."""
    if len(set(items)) < len(items):
        repeated = next(item for item in items if items.count(item) > 1)
        yield f"duplicate: {repeated[:20]} is there twice"
    for item in items:
        writer = writers.get(item)
        if writer is None:
            yield f"garbage: no client wrote {item[:20]}"
        elif writer.is_refused:
            yield f"G1a: {writer.id} was refused, but {item[:20]} is there"


def add_order(graph, writers):
    for one, other in zip(writers, writers[1:]):
        graph.add(one.id, other.id, WRITE)


def check_feed(operations):
    """Problems of the events that a change feed and a webhook have at the end."""
    changes = {
        one.arguments["request"]: one for one in operations if "request" in one.arguments
    }
    feeds = [one for one in operations if one.name == "feed" and one.is_done]
    for feed in feeds:
        requests = [event["request"] for event in feed.result["events"]]
        yield from list_problems(requests, changes)
        yield from missing(requests, changes, "in the feed")
        graph = Graph()
        add_order(graph, [changes[request] for request in requests if request in changes])
        graph.add_time([one for one in changes.values() if not one.is_refused])
        yield from graph.anomalies()
    for hook in [one for one in operations if one.name == "webhook" and one.is_done]:
        requests = [event["request"] for event in hook.result["events"]]
        # It is delivered at least once.
        yield from list_problems(list(dict.fromkeys(requests)), changes)
        yield from missing(requests, changes, "delivered")


def missing(requests, changes, where):
    present = set(requests)
    for request, change in changes.items():
        if change.is_done and request not in present:
            yield f"lost: {change.id} was acknowledged, but is not {where}"

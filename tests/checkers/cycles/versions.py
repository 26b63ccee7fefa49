"""Objects whose versions name the version they replaced: entities in transactions, and registers
that are replaced with If-Match. So the order of versions is part of the history."""

from graph import Graph, MISSED, READ, WRITE

FIRST = "first"


def check_transactions(operations):
    """Problems of the entities of one partition."""
    transfers = {}
    for one in operations:
        for write in one.arguments.get("writes", []):
            transfers[write["version"]] = one
    queries = [one for one in operations if one.name == "query" and one.is_done]
    seen = set()
    for query in queries:
        for row in query.result["rows"]:
            seen.update(version for version in (row["version"], row["previous"]) if version)
    for version in sorted(seen - {FIRST}):
        if version not in transfers:
            yield f"garbage: no client wrote version {version}"
        elif transfers[version].is_refused:
            yield f"G1a: {transfers[version].id} was refused, but its version {version} is there"
    applied = [
        one
        for version, one in transfers.items()
        if one.is_done or (version in seen and not one.is_refused)
    ]
    graph = Graph()
    following = {}
    for one in applied:
        for write in one.arguments["writes"]:
            place = (write["row"], write["previous"])
            if place in following:
                other = following[place]
                yield f"lost update: {other.id} and {one.id} replaced {place[1]} of row {place[0]}"
            following[place] = one
            before = transfers.get(write["previous"])
            if before is not None:
                graph.add(before.id, one.id, WRITE)
                graph.add(before.id, one.id, READ)
    for query in queries:
        rows = query.result["rows"]
        if len({row["row"] for row in rows}) != 6:
            yield f"{query.id} shows {len(rows)} rows, not 6"
        for row in rows:
            writer = transfers.get(row["version"])
            if writer is not None:
                graph.add(writer.id, query.id, READ)
            after = following.get((row["row"], row["version"]))
            if after is not None:
                graph.add(query.id, after.id, MISSED)
    graph.add_time(applied + queries)
    yield from graph.anomalies()


def check_registers(operations):
    """Problems of one blob or entity. Writes without a condition have no known place."""
    writers = {
        one.arguments["value"]: one for one in operations if "value" in one.arguments
    }
    reads = [one for one in operations if one.name == "read" and one.is_done]
    value_of = {}
    for one in operations:
        value = one.arguments.get("value", one.result.get("value"))
        etag = one.result.get("etag")
        if one.is_done and value and etag:
            if value_of.setdefault(etag, value) != value:
                yield f"two versions have the ETag {etag}"
    seen = {one.result.get("value") for one in reads}
    graph = Graph()
    applied = []
    following = {}
    for one in operations:
        is_seen = one.arguments.get("value") in seen and not one.is_refused
        if one.name == "read" or not (one.is_done or is_seen):
            continue
        applied.append(one)
        before = value_of.get(one.arguments.get("etag"))
        if before is None:
            continue
        if before in following:
            yield f"lost update: {following[before].id} and {one.id} replaced {before}"
        following[before] = one
        if before in writers:
            graph.add(writers[before].id, one.id, WRITE)
            graph.add(writers[before].id, one.id, READ)
    for one in reads:
        value = one.result.get("value")
        writer = writers.get(value)
        if writer is None:
            yield f"garbage: {one.id} read {value}"
            continue
        if writer.is_refused:
            yield f"G1a: {one.id} read {value} of {writer.id}, which was refused"
        graph.add(writer.id, one.id, READ)
        if value in following:
            graph.add(one.id, following[value].id, MISSED)
    graph.add_time(applied + reads)
    yield from graph.anomalies()

"""Reads stored histories; docs/HISTORY-FORMAT.md describes them."""

import json


class Operation:
    """A call with its result. `is_done`, `is_refused`, or neither: then it is unknown whether it
    happened."""

    def __init__(self, line):
        self.id = line["id"]
        self.workload = line["workload"]
        self.key = line["key"]
        self.name = line["operation"]
        self.arguments = line["arguments"]
        self.result = line["result"] or {}
        self.called = line["called"]
        status = self.result.get("status", 0)
        is_answered = line["outcome"] == "answered" and status < 500
        self.is_done = is_answered and status < 300
        self.is_refused = is_answered and status >= 300
        self.returned = line["returned"] if is_answered else None


def read_history(path):
    with open(path, encoding="utf-8") as file:
        header = json.loads(next(file))
        if header.get("format") != "etagere-history" or header.get("version") != 1:
            raise ValueError(f"{path} is not a history of version 1")
        return header, [Operation(json.loads(line)) for line in file if line.strip()]

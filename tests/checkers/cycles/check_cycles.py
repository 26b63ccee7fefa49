#!/usr/bin/env python3
"""Searches stored histories for forbidden cycles: `check_cycles.py FILE...` prints one JSON line for
each file and workload. Python 3.8, without packages. Written from the contract and the format of
histories alone; it shares nothing with tests/verify."""

import json
import os
import sys
from collections import defaultdict

from histories import read_history
from lists import check_appends, check_feed
from versions import check_registers, check_transactions

CHECKS = {
    "append": check_appends,
    "transaction": check_transactions,
    "blob register": check_registers,
    "entity register": check_registers,
    "block register": check_registers,
    "copy register": check_registers,
    "events": check_feed,
}
# The feed has the changes of all keys.
WHOLE = {"events"}


def check_history(operations):
    """The problems of each workload that has a check."""
    groups = defaultdict(lambda: defaultdict(list))
    for one in operations:
        key = "" if one.workload in WHOLE else one.key
        groups[one.workload][key].append(one)
    found = {}
    for workload in sorted(groups):
        if workload in CHECKS:
            found[workload] = [
                f"{key}: {problem}"
                for key, own in sorted(groups[workload].items())
                for problem in CHECKS[workload](own)
            ]
    return found


def main(paths):
    is_wrong = False
    for path in paths:
        _, operations = read_history(path)
        for workload, problems in check_history(operations).items():
            is_wrong = is_wrong or bool(problems)
            line = {
                "file": os.path.basename(path),
                "workload": workload,
                "verdict": "violation" if problems else "ok",
                "problems": len(problems),
                "first": problems[0] if problems else "",
            }
            print(json.dumps(line))
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

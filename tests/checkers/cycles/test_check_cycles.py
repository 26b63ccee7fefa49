"""`python3 -m unittest` in this folder: small histories with each kind of violation, and without."""

import unittest

from check_cycles import check_history
from histories import Operation


def history(workload, *lines):
    """Operations with times, name, arguments, and a result or None."""
    return [
        Operation(
            {
                "id": f"t{number}",
                "workload": workload,
                "key": "key",
                "operation": name,
                "arguments": arguments,
                "outcome": "unknown" if result is None else "answered",
                "result": result,
                "called": called,
                "returned": None if result is None else returned,
            }
        )
        for number, (called, returned, name, arguments, result) in enumerate(lines)
    ]


def transfer(called, returned, writes, status=204):
    arguments = {
        "writes": [{"row": row, "previous": old, "version": new} for row, old, new in writes]
    }
    return called, returned, "transfer", arguments, status and {"status": status}


def query(called, returned, **versions):
    rows = [
        {"row": str(row), "version": versions.get(f"r{row}", "first"), "previous": "", "units": 10}
        for row in range(6)
    ]
    return called, returned, "query", {}, {"status": 200, "rows": rows}


def append(called, returned, record, offset, status=201):
    result = status and {"status": status, "offset": offset}
    return called, returned, "append", {"record": record}, result


def read(called, returned, text):
    return called, returned, "read", {}, {"status": 200, "text": text}


class Cycles(unittest.TestCase):
    def expect(self, wanted, workload, *lines):
        problems = check_history(history(workload, *lines))[workload]
        kinds = {problem.split(": ")[1].split(" of ")[0] for problem in problems}
        self.assertEqual(kinds, set(wanted), problems)

    def test_transactions_in_order(self):
        self.expect(
            [],
            "transaction",
            transfer(1, 2, [("0", "first", "a"), ("1", "first", "a")]),
            transfer(1, 5, [("1", "a", "b"), ("2", "first", "b")]),
            query(3, 4, r0="a", r1="a"),
            query(6, 7, r0="a", r1="b", r2="b"),
        )

    def test_write_cycle(self):
        one = transfer(1, 9, [("0", "b", "a"), ("1", "first", "a")])
        other = transfer(1, 9, [("1", "a", "b"), ("0", "first", "b")])
        self.expect(["G0"], "transaction", one, other)

    def test_aborted_read(self):
        refused = transfer(1, 2, [("0", "first", "a")], 412)
        self.expect(["G1a"], "transaction", refused, query(3, 4, r0="a"))

    def test_read_of_what_is_written_later(self):
        # The second one saw the first, and the first is placed after it.
        one = transfer(1, 9, [("0", "first", "a"), ("1", "b", "a")])
        other = transfer(1, 9, [("1", "first", "b"), ("2", "first", "b")])
        seen = query(1, 9, r0="a")
        self.expect(["G-single"], "transaction", one, other, seen)

    def test_half_a_transaction(self):
        whole = transfer(1, 9, [("0", "first", "a"), ("1", "first", "a")])
        self.expect(["G-single"], "transaction", whole, query(1, 9, r0="a"))

    def test_two_queries_that_disagree(self):
        one = transfer(1, 9, [("0", "first", "a")])
        other = transfer(1, 9, [("1", "first", "b")])
        lines = [one, other, query(1, 9, r0="a"), query(1, 9, r1="b")]
        self.expect(["G2"], "transaction", *lines)

    def test_stale_query(self):
        written = transfer(1, 2, [("0", "first", "a")])
        self.expect(["G-single-realtime"], "transaction", written, query(3, 4))

    def test_unknown_transfer_may_be_seen_or_not(self):
        unknown = transfer(1, 2, [("0", "first", "a")], None)
        self.expect([], "transaction", unknown, query(3, 4))
        self.expect([], "transaction", unknown, query(3, 4), query(5, 6, r0="a"))
        back = [query(3, 4, r0="a"), query(5, 6)]
        self.expect(["G-single-realtime"], "transaction", unknown, *back)

    def test_lost_update(self):
        one = transfer(1, 9, [("0", "first", "a")])
        other = transfer(1, 9, [("0", "first", "b")])
        self.expect(["lost update"], "transaction", one, other)

    def test_appends_in_order(self):
        lines = [append(1, 5, "a|", 2), append(2, 6, "b|", 0), read(3, 4, "b|"), read(7, 8, "b|a|")]
        self.expect([], "append", *lines, append(3, 4, "c|", None, None))

    def test_append_that_is_missing(self):
        self.expect(["G-single-realtime"], "append", append(1, 2, "a|", 0), read(3, 4, ""))

    def test_append_in_the_wrong_order(self):
        lines = [append(1, 2, "a|", 2), append(3, 4, "b|", 0), read(5, 6, "b|a|")]
        self.expect(["G0-realtime"], "append", *lines)

    def test_part_of_a_record(self):
        self.expect(["G1b", "G-single-realtime"], "append", append(1, 2, "ab|", 0), read(3, 4, "a"))

    def test_readers_that_saw_different_orders(self):
        lines = [append(1, 9, "a|", 0), append(1, 9, "b|", 2)]
        found = check_history(history("append", *lines, read(1, 9, "a|b|"), read(1, 9, "b|")))
        self.assertIn("incompatible orders", found["append"][0])

    def test_registers(self):
        put = (1, 2, "write", {"value": "x"}, {"status": 201, "etag": "1"})
        swap = (3, 4, "swap", {"value": "y", "etag": "1"}, {"status": 201, "etag": "2"})
        stale = (5, 6, "read", {}, {"status": 200, "value": "x", "etag": "1"})
        again = (3, 7, "swap", {"value": "z", "etag": "1"}, {"status": 201, "etag": "3"})
        self.expect([], "blob register", put, swap)
        self.expect(["G-single-realtime"], "blob register", put, swap, stale)
        self.expect(["lost update"], "blob register", put, swap, again)

    def test_feed(self):
        def change(called, returned, request, status=201):
            return called, returned, "put", {"request": request}, {"status": status}

        def feed(*requests):
            events = [{"request": request} for request in requests]
            return 90, 91, "feed", {}, {"status": 200, "events": events}

        both = [change(1, 2, "a"), change(3, 4, "b")]
        self.expect([], "events", *both, feed("a", "b"))
        self.expect(["G0-realtime"], "events", *both, feed("b", "a"))
        self.expect(["lost"], "events", *both, feed("a"))
        self.expect(["duplicate"], "events", change(1, 2, "a"), feed("a", "a"))
        self.expect(["G1a"], "events", change(1, 2, "a", 412), feed("a"))


if __name__ == "__main__":
    unittest.main()

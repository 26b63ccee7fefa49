"""Dependencies between transactions, and the kinds of cycles that an isolation level forbids.

The names are those of Adya: G0 has only write dependencies, G1c also reads of what the other wrote,
G-single exactly one read that missed a write, G2 several. With the order of real time in a cycle,
"-realtime" follows: the same violation, for strict serializability.
"""

from collections import defaultdict, deque

WRITE, READ, MISSED, TIME = "ww", "wr", "rw", "rt"


class Graph:
    def __init__(self):
        self.edges = defaultdict(dict)

    def add(self, one, other, kind):
        """`one` comes before `other`. Of several reasons the strongest is kept for each kind."""
        if one != other:
            self.edges[one].setdefault(other, set()).add(kind)

    def add_time(self, operations):
        """An operation that returned comes before each that was called later.

        A chain of moments keeps the number of edges linear: an operation comes before the moment
        of its return, and the last moment before a call comes before the called operation.
        """
        events = []
        for one in operations:
            events.append((one.called, 1, one.id))
            if one.returned is not None:
                # A return at the time of a call is concurrent with it.
                events.append((one.returned, 2, one.id))
        last = None
        for index, (_, kind, name) in enumerate(sorted(events)):
            if kind == 1:
                if last is not None:
                    self.add(last, name, TIME)
                continue
            moment = ("moment", index)
            self.add(name, moment, TIME)
            if last is not None:
                self.add(last, moment, TIME)
            last = moment

    def neighbours(self, node, kinds):
        for other, reasons in self.edges.get(node, {}).items():
            if reasons & kinds:
                yield other

    def components(self):
        """Sets of nodes that reach each other (Tarjan, without recursion)."""
        numbers, lowest, stack, is_on, found = {}, {}, [], set(), []
        for start in list(self.edges):
            if start in numbers:
                continue
            work = [(start, iter(self.edges.get(start, {})))]
            numbers[start] = lowest[start] = len(numbers)
            stack.append(start)
            is_on.add(start)
            while work:
                node, following = work[-1]
                for other in following:
                    if other not in numbers:
                        numbers[other] = lowest[other] = len(numbers)
                        stack.append(other)
                        is_on.add(other)
                        work.append((other, iter(self.edges.get(other, {}))))
                        break
                    if other in is_on:
                        lowest[node] = min(lowest[node], numbers[other])
                else:
                    work.pop()
                    if work:
                        above = work[-1][0]
                        lowest[above] = min(lowest[above], lowest[node])
                    if lowest[node] == numbers[node]:
                        group = set()
                        while True:
                            other = stack.pop()
                            is_on.discard(other)
                            group.add(other)
                            if other == node:
                                break
                        if len(group) > 1:
                            found.append(group)
        return found

    def path(self, start, goal, kinds, within):
        """The shortest path of at least one edge, or None."""
        before, queue = {}, deque([start])
        while queue:
            node = queue.popleft()
            for other in self.neighbours(node, kinds):
                if other == goal:
                    path = [goal, node]
                    while path[-1] != start:
                        path.append(before[path[-1]])
                    return path[::-1]
                if other in within and other not in before and other != start:
                    before[other] = node
                    queue.append(other)
        return None

    def cycle_with(self, kind, others, within):
        """A cycle with one edge of this kind and otherwise edges of the others."""
        for one in sorted(within, key=str):
            for other in sorted(self.neighbours(one, {kind}), key=str):
                if other not in within:
                    continue
                back = self.path(other, one, others, within)
                if back is not None:
                    return back
        return None

    def anomalies(self):
        """The most severe kind of cycle in each component, with an example."""
        steps = [
            ("G0", WRITE, {WRITE}),
            ("G1c", READ, {WRITE, READ}),
            ("G-single", MISSED, {WRITE, READ}),
            ("G2", MISSED, {WRITE, READ, MISSED}),
            ("G0-realtime", WRITE, {WRITE, TIME}),
            ("G1c-realtime", READ, {WRITE, READ, TIME}),
            ("G-single-realtime", MISSED, {WRITE, READ, TIME}),
            ("G2-realtime", MISSED, {WRITE, READ, MISSED, TIME}),
        ]
        for within in self.components():
            for name, kind, others in steps:
                cycle = self.cycle_with(kind, others, within)
                if cycle is not None:
                    shown = [node for node in cycle if isinstance(node, str)]
                    yield f"{name}: {' -> '.join(shown)}"
                    break
            else:
                yield f"cycle of real time alone among {len(within)}: the clock is wrong"

import type { Lie, Passed, Passing } from "./lying-proxy.ts";
import { sometimes, type PlantedBug } from "./planted-bugs.ts";

const isChange = ({ path, method, headers }: Passing): boolean =>
  path.includes("/verify-events/") &&
  method === "PUT" &&
  !String(headers["x-ms-client-request-id"]).startsWith("last");

const done = (status: number): Passed => ({
  status,
  headers: { etag: '"0x1"' },
  body: Buffer.alloc(0),
});

/** The change is committed, and the process ends before it writes the event. */
function eventOutsideTransaction(): Lie {
  const isDue = sometimes(7);
  return (passing, forward) => {
    if (!isChange(passing) || !isDue()) return forward(passing);
    const { "x-ms-client-request-id": _request, ...headers } = passing.headers;
    return forward({ ...passing, headers: { ...headers, "x-ms-client-request-id": "lost" } });
  };
}

/** A change gets its place in the feed after changes that began when it was acknowledged. */
function orderByWallClock(): Lie {
  const isDue = sometimes(9);
  return (passing, forward) => {
    const isHit = isChange(passing) && passing.headers["if-match"] === undefined && isDue();
    if (!isHit || passing.path.includes("comp=")) return forward(passing);
    setTimeout(() => void forward(passing), 100);
    return Promise.resolve(done(201));
  };
}

/** The last block of a chunk is not in the feed when the next one begins. */
function lossAtRotation(): Lie {
  return async (passing, forward) => {
    const passed = await forward(passing);
    if (!passing.path.includes(".avro")) return passed;
    const marker = passed.body.subarray(-16);
    const first = passed.body.indexOf(marker);
    const second = passed.body.indexOf(marker, first + marker.length);
    const third = passed.body.indexOf(marker, second + marker.length);
    if (third < 0) return passed;
    const kept = [passed.body.subarray(0, first + 16), passed.body.subarray(second + 16)];
    return { ...passed, body: Buffer.concat(kept) };
  };
}

/** After a kill, the writer of the feed begins at an earlier position. */
function duplicatesAfterKill(): Lie {
  return async (passing, forward) => {
    const passed = await forward(passing);
    if (!passing.path.includes(".avro")) return passed;
    const marker = passed.body.subarray(-16);
    const header = passed.body.indexOf(marker) + 16;
    return { ...passed, body: Buffer.concat([passed.body, passed.body.subarray(header)]) };
  };
}

/** A transaction that is aborted after its event was written. */
function eventOfAbortedTransaction(): Lie {
  const isDue = sometimes(5);
  return async (passing, forward) => {
    const passed = await forward(passing);
    return isChange(passing) && passed.status < 300 && isDue() ? done(412) : passed;
  };
}

const bug = (name: string, said: RegExp, lie: () => Lie): PlantedBug => ({
  bug: name,
  workload: "events",
  said,
  lie,
});

export const plantedEventBugs: readonly PlantedBug[] = [
  bug(
    "event outside the transaction",
    /acknowledged, but is not in the feed/,
    eventOutsideTransaction,
  ),
  bug("order by wall clock", /but stands before it in the feed/, orderByWallClock),
  bug("loss at segment rotation", /acknowledged, but is not in the feed/, lossAtRotation),
  bug("duplicates after a kill", /is in the feed twice/, duplicatesAfterKill),
  bug(
    "event of an aborted transaction",
    /was refused, but is in the feed/,
    eventOfAbortedTransaction,
  ),
];

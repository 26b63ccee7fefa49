import { describe, expect, it } from "vitest";
import { decideOn, testGuid, testNow } from "../../tests/harness/decisions.ts";
import { leaseState, type Lease } from "../protocol/lease.ts";
import { breakContainerLease, leaseContainer } from "./container/container-properties.ts";
import {
  blob,
  blobState,
  container,
  containerState,
  leaseA,
  leaseB,
  leaseC,
  leases,
} from "../../tests/harness/blob-decisions.ts";
import { breakBlobLease, leaseBlob } from "./write/set-blob-properties.ts";

/** Names of ids in the table; `new` is an id that the server generates. */
const names: Readonly<Record<string, string>> = {
  [leaseA]: "A",
  [leaseB]: "B",
  [leaseC]: "C",
  [testGuid]: "new",
};

const acquire = (id?: string) => ({
  "x-ms-lease-action": "acquire",
  "x-ms-lease-duration": "30",
  ...(id === undefined ? {} : { "x-ms-proposed-lease-id": id }),
});
const withId = (action: string, id: string, proposed?: string) => ({
  "x-ms-lease-action": action,
  "x-ms-lease-id": id,
  ...(proposed === undefined ? {} : { "x-ms-proposed-lease-id": proposed }),
});
const breakAfter = (seconds: string) => ({
  "x-ms-lease-action": "break",
  "x-ms-lease-break-period": seconds,
});

const present = "LeaseAlreadyPresent";
const notAcquired = "LeaseIsBreakingAndCannotBeAcquired";
const noLease = "LeaseNotPresentWithLeaseOperation";
const mismatch = "LeaseIdMismatchWithLeaseOperation";
const notChanged = "LeaseIsBreakingAndCannotBeChanged";
const notRenewed = "LeaseIsBrokenAndCannotBeRenewed";

/** learn.microsoft.com/rest/api/storageservices/lease-blob#outcomes-of-lease-operations-on-blobs-by-
 *  lease-state: the state afterwards with the lease id, or the error code. */
const states = ["available", "leased", "breaking", "broken", "expired"] as const;
type Headers = Readonly<Record<string, string>>;
const rows: readonly (readonly [action: string, headers: Headers, ...expected: string[]])[] = [
  ["acquire", acquire(), "leased new", present, present, "leased new", "leased new"],
  ["acquire A", acquire(leaseA), "leased A", "leased A", notAcquired, "leased A", "leased A"],
  ["acquire B", acquire(leaseB), "leased B", present, present, "leased B", "leased B"],
  ["break 0 s", breakAfter("0"), noLease, "broken A", "broken A", "broken A", "broken A"],
  ["break 5 s", breakAfter("5"), noLease, "breaking A", "breaking A", "broken A", "broken A"],
  [
    "change A to B",
    withId("change", leaseA, leaseB),
    noLease,
    "leased B",
    notChanged,
    noLease,
    noLease,
  ],
  [
    "change B to A",
    withId("change", leaseB, leaseA),
    noLease,
    "leased A",
    mismatch,
    noLease,
    noLease,
  ],
  [
    "change B to C",
    withId("change", leaseB, leaseC),
    noLease,
    mismatch,
    mismatch,
    noLease,
    noLease,
  ],
  ["renew A", withId("renew", leaseA), mismatch, "leased A", notRenewed, notRenewed, "leased A"],
  ["renew B", withId("renew", leaseB), mismatch, mismatch, mismatch, mismatch, mismatch],
  [
    "release A",
    withId("release", leaseA),
    mismatch,
    "available",
    "available",
    "available",
    "available",
  ],
  ["release B", withId("release", leaseB), mismatch, mismatch, mismatch, mismatch, mismatch],
];

const kinds = [
  {
    kind: "blob",
    lease: leaseBlob,
    breakLease: breakBlobLease,
    on: (lease?: Lease) => blobState({ ...blob, lease }),
  },
  {
    kind: "container",
    lease: leaseContainer,
    breakLease: breakContainerLease,
    on: (lease?: Lease) => containerState({ ...container, lease }),
  },
];

describe.each(kinds)("lease actions on a $kind", ({ lease, breakLease, on }) => {
  it.each(rows.map((row) => ({ row, action: row[0] })))("$action", ({ row, action }) => {
    const [, headers, ...expected] = row;
    const operation = action.startsWith("break") ? breakLease : lease;
    const request = { headers };
    const results = states.map((state) => {
      const decision = decideOn(operation, on(leases[state]), request);
      if (typeof decision === "string") return decision;
      const written: { readonly lease?: Lease } | undefined = decision.put;
      const next = written?.lease;
      const id = next === undefined ? "" : ` ${names[next.id] ?? next.id}`;
      return leaseState(next, testNow) + id;
    });
    expect(results).toEqual(expected);
  });
});

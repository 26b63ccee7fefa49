import { parseSnapshotTime } from "../base/dates.ts";
import type { Ticks } from "../base/ticks.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { ok, type Result } from "../protocol/result.ts";
import type { QueryReader } from "./service.ts";
import { integer, query, type Param, type TextParser } from "../protocol/params.ts";
import { resourceNameUnitsMax } from "../protocol/names.ts";
import { parseConditions, type Conditions } from "../protocol/conditions.ts";
import { parseMetadata, type Metadata } from "../protocol/metadata.ts";
import { parseLeaseAction, type LeaseAction, type LeaseKind } from "../protocol/lease.ts";

/** Declarations of parameters and lease operations that several services have alike: operations
 *  take them into their `params`, and `http/` parses requests by them. */

export const metadata: Param<Metadata> = {
  sources: ["x-ms-meta-*"],
  parse: parseMetadata,
};

export const sourceConditions: Param<Conditions> = {
  sources: [
    "x-ms-source-if-match",
    "x-ms-source-if-none-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since",
    "x-ms-source-if-tags",
  ],
  parse: (reader) => parseConditions(reader, "source"),
};

/** The name of another container or share, in a header. A longer name cannot exist and would not
 *  fit into a key. */
export const otherName: TextParser<string> = (value) =>
  value.length <= resourceNameUnitsMax ? value : undefined;

const timeoutSecondsMax = 2_147_483_647;

/** `timeout` is validated and otherwise ignored: no operation runs long enough to need it. */
export const timeout = query("timeout", integer(0, timeoutSecondsMax));

/** What all Lease operations declare. Break Lease is a declaration of its own, because permission
 *  to write or to delete suffices for it. */
export const leaseChange = {
  target: "must-exist",
  lease: "action",
  etag: "keep",
  effect: "writes",
} as const;
/** The header that selects Break Lease among the Lease operations. */
export const breakHeaders = { "x-ms-lease-action": "break" } as const;

/** The parameters of a Lease operation: the action, and what it needs. The valid durations depend
 *  on the kind of resource. */
export function leaseAction(kind: LeaseKind): Param<LeaseAction> {
  return {
    sources: [
      "x-ms-lease-action",
      "x-ms-lease-duration",
      "x-ms-proposed-lease-id",
      "x-ms-lease-break-period",
    ],
    parse: (reader) => parseLeaseAction(reader, kind),
  };
}

/** A snapshot time in the query; undefined if absent or empty. */
export function snapshotTime(reader: QueryReader, name: string): Result<Ticks | undefined> {
  const text = reader.get(name);
  if (text === undefined || text === "") return ok(undefined);
  const time = parseSnapshotTime(text);
  return time === undefined ? invalidQuery(name, text) : ok(time);
}

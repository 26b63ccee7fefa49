import { integer, query } from "../protocol/params.ts";
import type { Param, TextParser } from "../protocol/params.ts";
import { resourceNameUnitsMax } from "../protocol/names.ts";
import { parseMetadata } from "../protocol/metadata.ts";
import type { Metadata } from "../protocol/metadata.ts";
import { parseLeaseAction } from "../protocol/lease.ts";
import type { LeaseKind } from "../protocol/lease.ts";
import type { LeaseAction } from "../protocol/lease-action.ts";

/** Parameters that operations of several services share. */

export const metadata: Param<Metadata> = {
  sources: ["x-ms-meta-*"],
  parse: parseMetadata,
};

/** The name of another container or share, in a header. A longer name cannot exist and would not
 *  fit into a key. */
export const otherName: TextParser<string> = (value) =>
  value.length <= resourceNameUnitsMax ? value : undefined;

const timeoutSecondsMax = 2_147_483_647;

/** `timeout` is validated and otherwise ignored: no operation runs long enough to need it. */
export const timeout = query("timeout", integer(0, timeoutSecondsMax));

/** The action of a Lease operation on this kind of resource. */
export function leaseAction(kind: LeaseKind): Param<LeaseAction> {
  return {
    sources: ["x-ms-lease-action", "x-ms-lease-duration", "x-ms-proposed-lease-id"],
    parse: (reader) => parseLeaseAction(reader, kind),
  };
}

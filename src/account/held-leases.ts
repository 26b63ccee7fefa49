import type { KeyPart } from "../encoding/keys.ts";
import type { Lease, LeaseKind } from "../protocol/lease.ts";
import { defineIndex, type IndexEntry, recordCodec } from "../encoding/table.ts";
import { ticksMax, type Ticks } from "../base/ticks.ts";

/** The index of leases of all services by end time. The admin API lists from it the active leases
 *  and those that ended in a period, without reading every blob. */

/** The key of an entry of the lease index. */
export interface HeldLeaseKey {
  /** When the lease ends; `ticksMax` for an infinite one. */
  readonly ends: Ticks;
  readonly kind: LeaseKind;
  /** The decoded parts of the key of the leased record. */
  readonly recordKey: readonly KeyPart[];
}

const kinds: readonly LeaseKind[] = ["blob", "container", "file", "share"];

/** The index, by end time: active leases come after the current time. The entry of an ended lease
 *  stays until its record is written again. Entries are written and removed together with the
 *  leased record. */
export const heldLeases = defineIndex<HeldLeaseKey, Lease>({
  name: "held-leases",
  tag: 0x04,
  key: ({ ends, kind, recordKey: below }) => [ends, kinds.indexOf(kind), ...below],
  codec: recordCodec<Lease>({ version: 1 }),
});

const none: readonly IndexEntry[] = [];

/** The index entry of a record with a lease; none without a lease. `parts` returns the key of the
 *  record. */
export function leaseEntries(
  kind: LeaseKind,
  lease: Lease | undefined,
  parts: () => readonly KeyPart[],
): readonly IndexEntry[] {
  if (lease === undefined) return none;
  const key = heldLeases.key({ ends: endOf(lease), kind, recordKey: parts() });
  return [{ key, value: heldLeases.codec.encode(lease) }];
}

/** The time when the lease ends unless it is renewed. */
function endOf({ expiresAt, breaksAt }: Lease): Ticks {
  return breaksAt ?? expiresAt ?? ticksMax;
}

export function parseHeldLeaseKey(key: Uint8Array): HeldLeaseKey {
  const [ends, kind, ...below] = heldLeases.parts(key);
  return { ends: ends as Ticks, kind: kinds[kind as number] ?? "blob", recordKey: below };
}

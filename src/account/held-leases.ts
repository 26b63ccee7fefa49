import type { KeyPart } from "../encoding/keys.ts";
import type { Lease, LeaseKind } from "../protocol/lease.ts";
import { recordCodec } from "../encoding/record.ts";
import { defineTable, type IndexEntry } from "../encoding/table.ts";
import { ticksMax, type Ticks } from "../base/ticks.ts";

export interface HeldLeaseKey {
  /** When the lease ends; `ticksMax` for an infinite one. */
  readonly ends: Ticks;
  readonly kind: LeaseKind;
  /** The key of the leased record. */
  readonly recordKey: readonly KeyPart[];
}

const kinds: readonly LeaseKind[] = ["blob", "container", "file", "share"];

/** Index of all leases by end time: the active ones come after the current time. An ended lease
 *  stays until its record is written again; it has no effect. Only operations that change a lease
 *  write here. */
export const heldLeases = defineTable<HeldLeaseKey, Lease>({
  name: "held-leases",
  tag: 0x04,
  key: ({ ends, kind, recordKey: below }) => [ends, kinds.indexOf(kind), ...below],
  codec: recordCodec<Lease>({ version: 1 }),
});

const none: readonly IndexEntry[] = [];

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

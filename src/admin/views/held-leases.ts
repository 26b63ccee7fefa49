import { heldLeases, parseHeldLeaseKey, type HeldLeaseKey } from "../../account/held-leases.ts";
import { formatIso } from "../../base/dates.ts";
import { successor } from "../../encoding/keys.ts";
import { leaseState, type Lease, type LeaseKind } from "../../protocol/lease.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { pathOfDirectory } from "../../blob/tree/path-of-directory.ts";
import { nodes } from "../../file/records.ts";
import { pathOf } from "../../file/share-tree.ts";
import type { ResourceName } from "../security/grant.ts";
import { secondsUntil } from "./moments.ts";
import { Names } from "./names.ts";

export interface LeaseTarget {
  readonly kind: LeaseKind;
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  readonly path?: string;
  /** Time of the share snapshot, if one is leased. */
  readonly snapshot?: string;
}

export interface PageBounds {
  readonly limit: number;
  /** The page begins after this key; undefined for the first page. */
  readonly after: Uint8Array | undefined;
  /** Whether the caller may see what a container or share contains. */
  readonly sees: (resource: ResourceName) => boolean;
}

export interface HeldLeasePage {
  readonly leases: readonly object[];
  /** The next page begins after this key; undefined at the end. */
  readonly next: Uint8Array | undefined;
}

/** Index entries that a page may skip: entries of deleted resources that are not reclaimed yet, and
 *  of resources that the caller may not see. */
const strayEntriesMax = 5000;

/** One page of the leases that are held, from the index of leases. */
export async function heldLeasePage(
  view: RecordView,
  { limit, after, sees }: PageBounds,
): Promise<HeldLeasePage> {
  const names = new Names(view);
  const start = after === undefined ? heldLeases.prefix([view.now + 1n]) : successor(after);
  const { end } = heldLeases.range([]);
  const leases: object[] = [];
  const scannedMax = limit + strayEntriesMax;
  let scanned = 0;
  for await (const batch of view.scan(heldLeases, { start, end, limit: scannedMax })) {
    for (const { key, record } of batch) {
      scanned += 1;
      const place = await targetOf(view, names, parseHeldLeaseKey(key));
      const isShown = place !== undefined && sees({ ...place, name: place.container });
      if (isShown) leases.push({ ...place, ...leaseFacts(record, view.now) });
      // A page may end early after many entries of other accounts; the next page continues after
      // them.
      if (leases.length === limit || scanned === scannedMax) return { leases, next: key };
    }
  }
  return { leases, next: undefined };
}

/** Leases that ended after `from`, up to and including `to`. */
export async function endedLeases(
  view: RecordView,
  { from, to, limit }: { readonly from: Ticks; readonly to: Ticks; readonly limit: number },
): Promise<readonly (LeaseTarget & { readonly lease: Lease; readonly at: Ticks })[]> {
  const names = new Names(view);
  const bounds = {
    start: heldLeases.prefix([from + 1n]),
    end: heldLeases.prefix([to + 1n]),
    limit,
  };
  const ended: (LeaseTarget & { lease: Lease; at: Ticks })[] = [];
  for await (const batch of view.scan(heldLeases, bounds)) {
    for (const { key, record } of batch) {
      const parsed = parseHeldLeaseKey(key);
      const place = await targetOf(view, names, parsed);
      if (place !== undefined) ended.push({ ...place, lease: record, at: parsed.ends });
    }
  }
  return ended;
}

function leaseFacts(lease: Lease, now: Ticks): object {
  const { id, durationSeconds, expiresAt, breaksAt } = lease;
  const ends = breaksAt ?? expiresAt;
  return {
    id,
    state: leaseState(lease, now),
    durationSeconds,
    ...(expiresAt === undefined ? {} : { expiresAt: formatIso(expiresAt) }),
    ...(breaksAt === undefined ? {} : { breaksAt: formatIso(breaksAt) }),
    secondsLeft: ends === undefined ? null : secondsUntil(ends, now),
  };
}

async function targetOf(
  view: RecordView,
  names: Names,
  { kind, recordKey: below }: HeldLeaseKey,
): Promise<LeaseTarget | undefined> {
  const [first, second] = below as [bigint, string | bigint];
  if (kind === "share" && typeof second === "bigint") return snapshotTarget(names, first, second);
  if (kind === "container" || kind === "share") {
    const account = await names.account(first);
    const service = kind === "share" ? "file" : "blob";
    if (account === undefined) return undefined;
    return { kind, service, account, container: String(second) };
  }
  if (kind === "blob") {
    const above = await pathOfDirectory(view, first);
    const owner = await names.container(above.container);
    if (owner === undefined) return undefined;
    const { account, name: container } = owner;
    const path = [...above.names, second].join("/");
    return { kind, service: "blob", account, container, path };
  }
  return fileTarget(view, names, below as [bigint, bigint, string]);
}

/** The target of a leased share snapshot, whose key is the id of its share and its time. */
async function snapshotTarget(
  names: Names,
  share: bigint,
  at: Ticks,
): Promise<LeaseTarget | undefined> {
  const owner = await names.share(share);
  if (owner === undefined) return undefined;
  const { account, name: container } = owner;
  return { kind: "share", service: "file", account, container, snapshot: formatIso(at) };
}

async function fileTarget(
  view: RecordView,
  names: Names,
  [share, parent, folded]: readonly [bigint, bigint, string],
): Promise<LeaseTarget | undefined> {
  const owner = await names.share(share);
  const node = owner && (await view.get(nodes, { share, parent, folded }));
  const path = node && (await pathOf(view, share, node));
  if (owner === undefined || path === undefined) return undefined;
  const { account, name: container } = owner;
  return { kind: "file", service: "file", account, container, path: path.join("/") };
}

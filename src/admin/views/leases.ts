import { heldLeases, parseHeldLeaseKey, type HeldLeaseKey } from "../../account/held-leases.ts";
import { formatIso } from "../../base/dates.ts";
import { json, noAccount, refuse, secondsUntil, type AdminResponse } from "../admin-response.ts";
import { callService } from "../call-service.ts";
import { oneOf, optional, textCheck, wholeNumber } from "../inputs.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute, type Route } from "../routes.ts";
import { successor } from "../../encoding/keys.ts";
import { leaseState, type Lease, type LeaseKind } from "../../protocol/lease.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { pathOfDirectory } from "../../blob/tree/find-path.ts";
import { nodes } from "../../file/records.ts";
import { pathOf } from "../../file/share-tree.ts";
import { Names } from "./names.ts";
import { pageChecks, answerPage, scanPage, type PageBounds, type Page } from "./pages.ts";

/** Routes that list the leases of blobs, containers, files and shares that clients hold, and break
 *  one. */

/** Azure's limit of `x-ms-lease-break-period`. */
const breakPeriodSecondsMax = 60;

const breakChecks = {
  kind: oneOf(["blob", "container", "file", "share"]),
  account: textCheck,
  container: textCheck,
  path: optional(textCheck),
  snapshot: optional(textCheck),
  periodSeconds: optional(wholeNumber({ min: 0, max: breakPeriodSecondsMax })),
};

export const leaseRoutes: readonly Route[] = [
  declareRoute("GET /admin/v1/leases", "principal", listLeases, { query: pageChecks }),
  declareRoute("POST /admin/v1/leases/break", "principal", breakLease, {
    acceptsAnyQuery: true,
    body: breakChecks,
  }),
];

function listLeases(request: CheckedRequest): Promise<AdminResponse> {
  return answerPage(request, heldLeases, async (records, bounds) => {
    const { items: leases, next } = await heldLeasePage(records, bounds);
    return { view: { now: formatIso(records.now), leases } satisfies LeasesView, next };
  });
}

interface BreakRequest {
  readonly kind: "blob" | "container" | "file" | "share";
  readonly account: string;
  readonly container: string;
  readonly path?: string | null;
  readonly snapshot?: string | null;
  readonly periodSeconds?: number | null;
}

async function breakLease(request: CheckedRequest): Promise<AdminResponse> {
  const breakRequest = request.body as unknown as BreakRequest;
  const { kind, account, container, path, snapshot } = breakRequest;
  const isWhole = kind === "container" || kind === "share";
  const problem = findConflictingFields(breakRequest);
  if (problem !== undefined) return refuse(400, "InvalidInput", problem);
  const service = kind === "blob" || kind === "container" ? "blob" : "file";
  const headers: Record<string, string> = { "x-ms-lease-action": "break" };
  // Leases of files have no break period.
  if (kind !== "file") headers["x-ms-lease-break-period"] = String(breakRequest.periodSeconds ?? 0);
  const reply = await callService(request, service, {
    account,
    method: "PUT",
    path: isWhole ? container : `${container}/${path ?? ""}`,
    query: {
      ...(isWhole ? { restype: kind } : {}),
      comp: "lease",
      ...(snapshot ? { sharesnapshot: snapshot } : {}),
    },
    headers,
  });
  if (reply === undefined) return noAccount(account);
  if (reply.status !== 202) return refuse(reply.status, reply.code, reply.message);
  return json({ secondsLeft: Number(reply.headers["x-ms-lease-time"] ?? "0") });
}

function findConflictingFields({ kind, path, snapshot }: BreakRequest): string | undefined {
  const isWhole = kind === "container" || kind === "share";
  if (isWhole && path) return `path is not allowed for a ${kind}`;
  if (!isWhole && !path) return `path is missing: the name of the ${kind}`;
  return kind !== "share" && snapshot ? `snapshot is for a share, not for a ${kind}` : undefined;
}

interface LeaseTarget {
  readonly kind: LeaseKind;
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  readonly path?: string;
  /** Time of the leased share snapshot; absent if the share itself is leased. */
  readonly snapshot?: string;
}

/** A lease that is held. */
export type HeldLease = LeaseTarget & ReturnType<typeof leaseFacts>;

export interface LeasesView {
  readonly now: string;
  readonly leases: readonly HeldLease[];
  readonly next?: string;
}

/** One page of the leases that are held, from the index of leases. */
export function heldLeasePage(
  view: RecordView,
  { limit, after, sees }: PageBounds,
): Promise<Page<HeldLease>> {
  const names = new Names(view);
  const start = after === undefined ? heldLeases.prefix([view.now + 1n]) : successor(after);
  const { end } = heldLeases.range([]);
  return scanPage(view, heldLeases, { start, end, limit }, async (key, record) => {
    const place = await targetOf(view, names, parseHeldLeaseKey(key));
    const isShown = place !== undefined && sees({ ...place, name: place.container });
    return isShown ? { ...place, ...leaseFacts(record, view.now) } : undefined;
  });
}

/** Leases that ended after `from`, up to and including `to`, for the events that
 *  `admin/feed/timed-events.ts` sends when a lease ends. The index is ordered by the time when a
 *  lease ends. */
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

/** `secondsLeft` is null for a lease without an end. */
function leaseFacts(lease: Lease, now: Ticks) {
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

/** Finds the names of a leased object. `recordKey` holds: for a container or share, the id of its
 *  account and its name; for a share snapshot, the id of the share and the time; for a blob, the id
 *  of its directory and its name; for a file, the ids of share and directory and the folded
 *  name. */
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

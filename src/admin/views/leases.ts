import type { HeldLease, LeasesView } from "../api-types.ts";
import { heldLeases, parseHeldLeaseKey, type HeldLeaseKey } from "../../account/held-leases.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { formatIso } from "../../base/dates.ts";
import { Records } from "../../operation/records.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { callService } from "../call-service.ts";
import { oneOf, optional, textCheck, wholeNumber, wholeNumberText } from "../inputs.ts";
import { countOf, type CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { parseContinuationKey } from "./continuation-key.ts";
import { successor } from "../../encoding/keys.ts";
import { leaseState, type Lease, type LeaseKind } from "../../protocol/lease.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { pathOfDirectory } from "../../blob/tree/path-of-directory.ts";
import { nodes } from "../../file/records.ts";
import { pathOf } from "../../file/share-tree.ts";
import type { ResourceName } from "../security/grant.ts";
import { secondsUntil } from "./moments.ts";
import { Names } from "./names.ts";

const pageDefault = 200;
const pageMax = 1000;
const breakPeriodSecondsMax = 60;

export function leaseRoutes(context: ViewContext): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/admin/v1/leases",
      access: "principal",
      query: {
        limit: optional(wholeNumberText({ min: 1, max: pageMax })),
        after: optional(textCheck),
      },
      answer: (request) => listLeases(context, request),
    },
    {
      method: "POST",
      path: "/admin/v1/leases/break",
      access: "principal",
      body: {
        kind: oneOf(["blob", "container", "file", "share"]),
        account: textCheck,
        container: textCheck,
        path: optional(textCheck),
        snapshot: optional(textCheck),
        periodSeconds: optional(wholeNumber({ min: 0, max: breakPeriodSecondsMax })),
      },
      answer: (request) => breakLease(context, request),
    },
  ];
}

async function listLeases(
  { runtime }: ViewContext,
  request: CheckedRequest,
): Promise<AdminResponse> {
  const { query, sees } = request;
  const limit = countOf(query, "limit", pageDefault);
  const after = parseContinuationKey(query, heldLeases.range([]));
  if ("refusal" in after) return after.refusal;
  return runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const { leases, next } = await heldLeasePage(records, { limit, after: after.key, sees });
    const page = next === undefined ? {} : { next: encodeBase64(next) };
    return json({ now: formatIso(view.now), leases, ...page } satisfies LeasesView);
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

async function breakLease(context: ViewContext, request: CheckedRequest): Promise<AdminResponse> {
  const { accounts, grant, body } = request;
  const breakRequest = body as unknown as BreakRequest;
  const { kind, account, container, path, snapshot } = breakRequest;
  const isWhole = kind === "container" || kind === "share";
  const problem = findConflictingFields(breakRequest);
  if (problem !== undefined) return refuse(400, "InvalidInput", problem);
  const service = kind === "blob" || kind === "container" ? "blob" : "file";
  const headers: Record<string, string> = { "x-ms-lease-action": "break" };
  // Leases of files have no break period.
  if (kind !== "file") headers["x-ms-lease-break-period"] = String(breakRequest.periodSeconds ?? 0);
  const reply = await callService(context, service, {
    accounts,
    grant,
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

interface HeldLeasePage {
  readonly leases: readonly HeldLease[];
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
  const leases: HeldLease[] = [];
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

function leaseFacts(lease: Lease, now: Ticks): Omit<HeldLease, keyof LeaseTarget> {
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

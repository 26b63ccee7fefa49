import { parseIso } from "../../base/dates.ts";
import type { RecordView } from "../../operation/view.ts";
import type { ServiceName } from "../../protocol/names.ts";
import { heldLeasePage, type HeldLease } from "../views/leases.ts";
import { messagesVisibleBetween, queuesAfter } from "../views/messages.ts";
import { openFilePage, type SmbFile } from "../views/open-files.ts";
import type { Spanned } from "./feed-event.ts";

/** What a client holds: a lease, an open or a byte-range lock of SMB, or a message in flight. The
 *  request feed samples it once a second for timelines and recordings (`feed.ts`). */
export interface Hold extends Spanned {
  readonly kind: "lease" | "open" | "lock" | "message";
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  /** Path of the blob or file, or id of the message. */
  readonly path: string;
  /** Undefined for leases and messages, because their records do not name a client. */
  readonly client: string | undefined;
  readonly what: string;
  /** Id of a lease: `admin/views/timeline.ts` finds its client among the recorded requests. */
  readonly lease?: string;
}

/** Limits of one sample of what clients hold; what is beyond is not on timelines. */
const leasesMax = 500;
const filesMax = 500;
const queuesMax = 100;
const messagesPerQueueMax = 100;

/** Everything that clients hold now, up to a limit for each kind. */
export async function holdsNow(view: RecordView): Promise<readonly Hold[]> {
  const sees = (): boolean => true;
  const leases = await heldLeasePage(view, { limit: leasesMax, after: undefined, sees });
  const files = await openFilePage(view, { limit: filesMax, after: undefined, sees });
  return [
    ...leases.items.map(leaseHold),
    ...files.items.flatMap(fileHolds),
    ...(await messageHolds(view)),
  ];
}

function leaseHold(held: HeldLease): Hold {
  const { kind, service, account, container, path = "", id, state, durationSeconds } = held;
  const end = held.breaksAt ?? held.expiresAt;
  const length = durationSeconds < 0 ? "infinite" : `${durationSeconds} s`;
  return {
    kind: "lease",
    key: `lease ${kind} ${account} ${container} ${path} ${id}`,
    service,
    account,
    container,
    path,
    client: undefined,
    what: `${state === "breaking" ? "breaking lease" : "lease"} ${id}, ${length}`,
    until: end === undefined ? undefined : parseIso(end),
    lease: id,
  };
}

function fileHolds({ account, share, path, fileId, opens, locks }: SmbFile): readonly Hold[] {
  const place = { service: "file", account, container: share, path } as const;
  const clients = new Map(opens.map(({ id, client }) => [id, client]));
  return [
    ...opens.map(({ id, client, access, shareMode, openedAt }): Hold => ({
      ...place,
      kind: "open",
      key: `open ${account} ${share} ${fileId} ${id}`,
      client,
      what: openWords(access, shareMode),
      since: parseIso(openedAt),
    })),
    ...locks.map(({ open, offset, length, exclusive }): Hold => ({
      ...place,
      kind: "lock",
      key: `lock ${account} ${share} ${fileId} ${open} ${offset} ${length} ${exclusive}`,
      client: clients.get(open),
      what: `${exclusive ? "exclusive" : "shared"} lock of ${length} bytes at ${offset}`,
    })),
  ];
}

function openWords(access: readonly string[], shareMode: readonly string[]): string {
  const shared = shareMode.join(", ") || "nothing";
  return `open for ${access.join(", ") || "attributes"}, shares ${shared}`;
}

async function messageHolds(view: RecordView): Promise<readonly Hold[]> {
  const holds: Hold[] = [];
  for await (const { place } of queuesAfter(view, undefined, queuesMax)) {
    const { account, queue, id: owner } = place;
    const bounds = { from: view.now, limit: messagesPerQueueMax };
    for (const { id, message } of await messagesVisibleBetween(view, owner, bounds)) {
      const { dequeueCount, visibleAt } = message;
      if (dequeueCount === 0) continue;
      holds.push({
        kind: "message",
        key: `message ${account} ${queue} ${id} ${dequeueCount}`,
        service: "queue",
        account,
        container: queue,
        path: id,
        client: undefined,
        what: `message ${id}, dequeued ${dequeueCount === 1 ? "once" : `${dequeueCount} times`}`,
        until: visibleAt,
      });
    }
  }
  return holds;
}

import {
  blobs,
  blocks,
  containers,
  deletedContainers,
  generations,
  uploads,
  type BlobRecord,
} from "../../blob/records.ts";
import type { DefinedTable } from "../../encoding/table.ts";
import { deletedShares, nodes, shares, versions } from "../../file/records.ts";
import type { ReclaimJob } from "../../operation/effects.ts";
import { reclaimJobs } from "../../operation/reclaim-jobs.ts";
import type { RecordView } from "../../operation/view.ts";
import { messages, queues } from "../../queue/records.ts";
import { entities, tables } from "../../table/records.ts";

/** Counts all bytes of an account in one state, as the transactions do that add to its counter:
 *  those that can be reached, and those that a reclaim job will subtract. */
export async function countAccount(view: RecordView, account: bigint): Promise<number> {
  let bytes = 0;
  const ofContainer = (id: bigint) => countContainer(view, id);
  bytes += await sumOwned(view, containers, account, ofContainer);
  bytes += await sumOwned(view, deletedContainers, account, ofContainer);
  bytes += await sumOwned(view, queues, account, (id) => sum(view, messages, id));
  bytes += await sumOwned(view, tables, account, (id) => sum(view, entities, id));
  bytes += await sumOwned(view, shares, account, (id) => countShare(view, id));
  bytes += await sumOwned(view, deletedShares, account, (id) => countShare(view, id));
  return bytes + (await countPending(view, account));
}

/** Sums over the containers, queues, tables or shares of an account. */
async function sumOwned<K, R extends { readonly id: bigint }>(
  view: RecordView,
  table: DefinedTable<K, R>,
  account: bigint,
  count: (id: bigint) => Promise<number>,
): Promise<number> {
  let bytes = 0;
  for await (const batch of view.scan(table, table.range([account]))) {
    for (const { record } of batch) bytes += await count(record.id);
  }
  return bytes;
}

/** Sums over the records of a table whose keys begin with an id. */
async function sum<K, R>(
  view: RecordView,
  table: DefinedTable<K, R>,
  id: bigint,
  visit: (record: R) => void = () => {},
): Promise<number> {
  const { countedBytes = () => 0 } = table;
  let bytes = 0;
  for await (const batch of view.scan(table, table.range([id]))) {
    for (const { record } of batch) {
      bytes += countedBytes(record);
      visit(record);
    }
  }
  return bytes;
}

/** The blobs, generations and uploads of a container, with those of all directories below it. */
async function countContainer(view: RecordView, container: bigint): Promise<number> {
  let bytes = 0;
  const pending = [container];
  const seen = new Set(pending);
  const visit = ({ directory }: BlobRecord): void => {
    // The root directory has the id of its container.
    if (directory === undefined || seen.has(directory)) return;
    seen.add(directory);
    pending.push(directory);
  };
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    bytes += await sum(view, blobs, id, visit);
    bytes += await sum(view, generations, id, visit);
    const found: bigint[] = [];
    bytes += await sum(view, uploads, id, (upload) => found.push(upload.id));
    for (const upload of found) bytes += await sum(view, blocks, upload);
  }
  return bytes;
}

async function countShare(view: RecordView, share: bigint): Promise<number> {
  return (await sum(view, nodes, share)) + (await sum(view, versions, share));
}

/** What jobs remove that can no longer be reached otherwise. */
const counters: Readonly<Record<string, (view: RecordView, id: bigint) => Promise<number>>> = {
  "blob-blocks": (view, id) => sum(view, blocks, id),
  "blob-container": countContainer,
  "blob-directory": countContainer,
  "queue-messages": (view, id) => sum(view, messages, id),
  "table-entities": (view, id) => sum(view, entities, id),
  "file-share": countShare,
};

async function countPending(view: RecordView, account: bigint): Promise<number> {
  let bytes = 0;
  for await (const batch of view.scan(reclaimJobs, reclaimJobs.range([]))) {
    for (const { record } of batch) {
      if (record.account === account) bytes += await countJob(view, record);
    }
  }
  return bytes;
}

async function countJob(view: RecordView, { kind, scope }: ReclaimJob): Promise<number> {
  const [id] = scope;
  return typeof id === "bigint" ? ((await counters[kind]?.(view, id)) ?? 0) : 0;
}

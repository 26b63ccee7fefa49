import type { Reclaimer } from "../core/service.ts";
import { anyTable, type AnyTable, type DefinedTable } from "../core/table.ts";
import type { RecordView } from "../core/view.ts";
import { blobs, blocks, generations, uploads } from "./records.ts";

/** Records removed in one transaction. */
const removalsMax = 500;

type Removal = { readonly table: AnyTable; readonly key: Uint8Array };

/** The first records below an id in a table. */
async function firstBelow<K, R extends object>(
  view: RecordView,
  table: DefinedTable<K, R>,
  id: bigint,
): Promise<readonly Removal[]> {
  const found: Removal[] = [];
  for await (const batch of view.scan(table, { ...table.range([id]), limit: removalsMax })) {
    for (const { key } of batch) found.push({ table: anyTable(table), key });
  }
  return found;
}

const reclaimBlocks: Reclaimer = async (view, [upload]) => {
  const removals = await firstBelow(view, blocks, upload as bigint);
  return { removals, done: removals.length < removalsMax };
};

const reclaimContainer: Reclaimer = async (view, [container]) => {
  const id = container as bigint;
  const current = await firstBelow(view, blobs, id);
  if (current.length > 0) return { removals: current, done: false };
  const earlier = await firstBelow(view, generations, id);
  if (earlier.length > 0) return { removals: earlier, done: false };
  return reclaimUploads(view, id);
};

/** Uploads take their blocks with them, one upload at a time. */
async function reclaimUploads(view: RecordView, container: bigint) {
  for await (const batch of view.scan(uploads, { ...uploads.range([container]), limit: 1 })) {
    for (const { key, record } of batch) {
      const staged = await reclaimBlocks(view, [record.id]);
      const own = { table: anyTable(uploads), key };
      return { removals: staged.done ? [...staged.removals, own] : staged.removals, done: false };
    }
  }
  return { removals: [], done: true };
}

export const reclaimers: Readonly<Record<string, Reclaimer>> = {
  "blob-blocks": reclaimBlocks,
  "blob-container": reclaimContainer,
};

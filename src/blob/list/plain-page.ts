import type { RecordView, Scanned } from "../../operation/view.ts";
import { blobs, type BlobRecord } from "../records.ts";
import { isExpired } from "../shared/expiry.ts";
import { renderEntry, type EntryOptions } from "./blob-entry.ts";
import { boundsOf, markerOf, keyOfMarker, type Page, type Selection } from "./scan-blobs.ts";

/** Whether a listing needs only the table of current blobs and has no delimiter, which is the usual
 *  case. */
export function isPlainListing(selection: Selection): boolean {
  const { delimiter, snapshots, versions, deleted, uncommitted } = selection;
  const { deletedWithVersions, onlyDeleted } = selection;
  const hasOthers = snapshots || versions || deleted || deletedWithVersions || onlyDeleted;
  return delimiter === "" && !hasOthers && !uncommitted;
}

/** As `scanBlobs`, for plain listings. Reads one table and uses the render cache, so that an
 *  unchanged record is not even decoded. */
export async function plainPage(
  view: RecordView,
  selection: Selection,
  options: EntryOptions,
  emit: (text: string) => void,
): Promise<Page> {
  const { container, from, limit } = selection;
  const { start, end } = boundsOf(blobs, selection);
  const first = from === undefined ? start : later(start, keyOfMarker(blobs, container, from));
  const variant = renderVariant(options);
  let emitted = 0;
  // The scan has no limit, because expired blobs are skipped: a page may read more records than it
  // returns.
  for await (const batch of view.scan(blobs, { start: first, end })) {
    for (const entry of batch) {
      const text = view.renderCached(entry, variant, () => render(entry, options));
      if (text === undefined) continue;
      if (emitted >= limit) return { next: markerOf(blobs, entry.key) };
      emit(text);
      emitted += 1;
    }
  }
  return { next: undefined };
}

function later(left: Uint8Array, right: Uint8Array): Uint8Array {
  return Buffer.compare(left, right) < 0 ? right : left;
}

function render(entry: Scanned<BlobRecord>, options: EntryOptions) {
  const { record } = entry;
  if (isExpired(record, options.now)) return undefined;
  const name = blobs.parts(entry.key)[1] as string;
  const text = renderEntry({ kind: "blob", name, record }, options);
  return { text, isCacheable: isTimeless(record) };
}

/** Whether the rendered entry does not depend on the time of the request, so that it can be
 *  cached. */
function isTimeless({ lease, rehydration, expiresAt, deleted }: BlobRecord): boolean {
  return [lease, rehydration, expiresAt, deleted].every((each) => each === undefined);
}

/** The variant for the render cache: one bit for each option that changes a rendered entry. */
function renderVariant(options: EntryOptions): number {
  const { metadata, copy, tags, versions, immutability, legalHold, features } = options;
  const tracked = features.lastAccessTracking;
  const choices = [metadata, copy, tags, versions, immutability, legalHold, tracked];
  return choices.reduce((variant, choice) => variant * 2 + (choice ? 1 : 0), 0);
}

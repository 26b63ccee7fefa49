import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { compareKeys } from "../../encoding/keys.ts";
import type { Table } from "../../encoding/table.ts";
import { Records } from "../../operation/records.ts";
import type { RecordView } from "../../operation/view.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, refuse, type AdminResponse } from "../admin-response.ts";
import { optional, textCheck, wholeNumberText, type Checks } from "../inputs.ts";
import { countOf, type CheckedRequest } from "../request.ts";
import type { ResourceName } from "../security/grant.ts";

/** Pages of the long lists that routes of this folder answer with (leases, messages, open files,
 *  states): a response has a limited number of entries and `next`, with which the client requests
 *  the following ones. */

const pageDefault = 200;
const pageMax = 1000;
/** Most entries that a page reads without showing them: the tables contain the entries of all
 *  accounts, also of those that the caller may not see, and of deleted resources that are not
 *  reclaimed yet. */
const strayEntriesMax = 5000;

/** Checks of the parameters that select a page of a list. */
export const pageChecks: Checks = {
  limit: optional(wholeNumberText({ min: 1, max: pageMax })),
  after: optional(textCheck),
};

export interface PageBounds {
  readonly limit: number;
  /** The page begins after this key; undefined for the first page. */
  readonly after: Uint8Array | undefined;
  /** Whether the caller may see what a container or share contains. */
  readonly sees: (resource: ResourceName) => boolean;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The next page begins after this key; undefined at the end. */
  readonly next: Uint8Array | undefined;
}

/** Runs `read` on the records of one state of the store, so that a response is consistent. */
export function readRecords<T>(
  { runtime }: Pick<ViewContext, "runtime">,
  read: (records: Records) => Promise<T>,
): Promise<T> {
  return runtime.store.snapshot((view) => read(new Records(view, runtime.content)));
}

interface KeyRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/** Answers with a page of a table. `after` in the query must be a key of the table, as an earlier
 *  page has returned it. */
export async function answerPage(
  { context, query, sees }: CheckedRequest,
  table: { range(above: readonly []): KeyRange },
  read: (
    records: Records,
    bounds: PageBounds,
  ) => Promise<{ readonly view: object; readonly next: Uint8Array | undefined }>,
): Promise<AdminResponse> {
  const limit = countOf(query, "limit", pageDefault);
  const given = query.get("after") ?? "";
  const after = given === "" ? undefined : decodeBase64(given);
  const { start, end } = table.range([]);
  const isOurs = after && compareKeys(after, start) >= 0 && compareKeys(after, end) < 0;
  if (given !== "" && isOurs !== true) {
    return refuse(400, "InvalidInput", "after must be `next` of an earlier response");
  }
  const { view, next } = await readRecords(context, (records) =>
    read(records, { limit, after, sees }),
  );
  return json({ ...view, ...(next === undefined ? {} : { next: encodeBase64(next) }) });
}

/** The first `limit` entries for which `render` returns a value. */
export async function scanPage<R, T>(
  view: RecordView,
  table: Table<never, R>,
  { start, end, limit }: KeyRange & { readonly limit: number },
  render: (key: Uint8Array, record: R) => Promise<T | undefined>,
): Promise<Page<T>> {
  const items: T[] = [];
  const scannedMax = limit + strayEntriesMax;
  let scanned = 0;
  for await (const batch of view.scan(table, { start, end, limit: scannedMax })) {
    for (const { key, record } of batch) {
      scanned += 1;
      const item = await render(key, record);
      if (item !== undefined) items.push(item);
      // After so many skipped entries a page ends early; the next one continues after them.
      if (items.length === limit || scanned === scannedMax) return { items, next: key };
    }
  }
  return { items, next: undefined };
}

import type { QueryConfig } from "pg";

import { bigintArray, byteaArray, byteaColumns, boundOf, rowKey } from "./rows.ts";
import { storeTicks } from "./database-time.ts";
import type { PlannedRange, ReadPlan } from "./read-plans.ts";

/** The SQL statement that fetches all predicted reads of operations at once, for
 *  `prefetcher.ts`. */

/** A row of the result, as an array. One (kind 0) has the sequence, the latest store time and the
 *  database's clock. The others are entries: requested by key (1), in a range (2), or the record
 *  that an index entry in a range points to (3). */
export type PrefetchRow = [
  kind: 0 | 1 | 2 | 3,
  positionOrSequence: string,
  revisionOrTicks: string,
  clock: string | null,
  head: Buffer | null,
  tail: Buffer | null,
  value: Buffer | null,
];

const headerQuery = `SELECT 0 AS kind, s.sequence AS place, s.ticks AS stamp,
    ${storeTicks} AS clock,
    NULL::bytea AS head, NULL::bytea AS tail, NULL::bytea AS value FROM state s`;
const byKey = `SELECT 1, w.place, e.stamp, NULL, NULL, NULL, e.value
    FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS w(head, digest, place)
    JOIN entry e ON e.head = w.head AND e.digest = w.digest`;
const inRange = `SELECT r.place, r.skip, r.prefix, e.head, e.tail, e.stamp, e.value
    FROM unnest($3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bigint[], $8::bigint[],
        $9::bytea[]) WITH ORDINALITY
      AS r(start_head, start_tail, end_head, end_tail, most, skip, prefix, place)
    CROSS JOIN LATERAL (
      SELECT * FROM entry e
        WHERE e.head >= r.start_head AND e.head <= r.end_head
          AND (e.head, e.tail) >= (r.start_head, r.start_tail)
          AND (e.head, e.tail) < (r.end_head, r.end_tail)
        ORDER BY e.head, e.tail LIMIT r.most
    ) e`;

/** The statements for plans without and with ranges. PostgreSQL runs each on one state, so neither
 *  needs a transaction. */
const keysText = `${headerQuery} UNION ALL ${byKey}`;
const rangesText = `WITH found AS MATERIALIZED (${inRange})
  ${headerQuery} UNION ALL ${byKey}
  UNION ALL SELECT 2, f.place, f.stamp, NULL, f.head, f.tail, f.value FROM found f
  UNION ALL SELECT 3, f.place, e.stamp, NULL, e.head, e.tail, e.value FROM found f
    JOIN entry e ON e.head = f.prefix || substring(f.head FROM f.skip::int + 1) AND e.digest = ''
    WHERE f.skip > 0`;

const nothing = new Uint8Array(0);

/** The statement that fetches the keys and ranges of a plan (predicted reads). */
export function prefetchQuery({ keys, ranges }: ReadPlan): QueryConfig & { rowMode: "array" } {
  const rows = [...keys.values()].map(({ key }) => rowKey(key));
  const keyColumns = byteaColumns(rows, "head", "digest");
  if (ranges.length === 0) {
    return { name: "prefetch_keys", text: keysText, values: keyColumns, rowMode: "array" };
  }
  const values = [...keyColumns, ...rangeColumns(ranges)];
  return { name: "prefetch", text: rangesText, values, rowMode: "array" };
}

function rangeColumns(ranges: readonly PlannedRange[]): Buffer[] {
  const starts = ranges.map(({ start }) => boundOf(start));
  const ends = ranges.map(({ end }) => boundOf(end));
  return [
    ...byteaColumns(starts, "head", "tail"),
    ...byteaColumns(ends, "head", "tail"),
    bigintArray(ranges.map(({ limit }) => limit)),
    bigintArray(ranges.map(({ indexTarget }) => indexTarget?.skip ?? 0)),
    byteaArray(ranges.map(({ indexTarget }) => indexTarget?.prefix ?? nothing)),
  ];
}

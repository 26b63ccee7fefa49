import { describe, expect, it } from "vitest";
import * as blob from "../../blob/records.ts";
import { recordTables } from "../../data/services.ts";
import { decodeKey, encodeTaggedKey, type KeyPart } from "../../encoding/keys.ts";
import type { AnyTable } from "../../encoding/table.ts";
import * as file from "../../file/records.ts";
import { expiries, messages, queues, visibilityIndex } from "../../queue/records.ts";
import { entities, tables } from "../../table/records.ts";
import { headBytes, entityRecord } from "../../table/stored/entity-record.ts";
import { ArchiveRefused } from "../../host/refused.ts";
import { loadedRecord } from "./record-loader.ts";

const id = "01234567-89ab-cdef-0123-456789abcdef";
const lease = { id, durationSeconds: 15, expiresAt: 9n };
const container = { id: 7n, etag: 1n, metadata: [["a", "b"]], policies: [{ id: "p" }], lease };
const content = { kind: "inline", length: 1, bytes: Uint8Array.of(1) };
const blobRecord = {
  etag: 1n,
  created: 1n,
  type: "BlockBlob",
  content,
  headers: { contentType: "text/plain", contentMd5: new Uint8Array(16) },
  metadata: [],
  tags: { a: "b" },
  posix: { owner: "o", group: "g", mode: 0o750 },
};
const share = {
  id: 7n,
  etag: 1n,
  metadata: [],
  policies: [],
  quotaGib: 5,
  settings: { tier: "Hot" },
  epoch: 1,
  newestSnapshot: 0,
  snapshotCount: 0,
};
const node = {
  id: 3n,
  parent: 0n,
  name: "A",
  kind: "file",
  etag: 1n,
  since: 1,
  created: 1n,
  lastWrite: 1n,
  change: 1n,
  attributes: 32,
  metadata: [],
  content,
};
const deleted = { deletedAt: 2n, retentionDays: 7 };
const message = bytesOf(16);

/** A valid record of each table that archives contain. */
const samples: Readonly<Record<string, readonly [parts: readonly KeyPart[], record: object]>> = {
  [blob.containers.name]: [["c"], container],
  [blob.deletedContainers.name]: [["c", 5n], { ...container, ...deleted }],
  [blob.blobs.name]: [["b"], blobRecord],
  [blob.generations.name]: [["b", 4n, 1], { ...blobRecord, superseded: true, versionId: 4n }],
  [blob.uploads.name]: [["b"], { id: 7n, blockIdLength: 4, touched: 1n }],
  [blob.blocks.name]: [["AAAA"], { content }],
  [queues.name]: [["q"], { id: 7n, metadata: [], policies: [] }],
  [messages.name]: [
    [message],
    { inserted: 1n, expires: 2n, visibleAt: 1n, dequeueCount: 0, updateCount: 0, text: "t" },
  ],
  [visibilityIndex.name]: [[1n, message], { expires: 2n }],
  [expiries.name]: [[2n, message], {}],
  [tables.name]: [["t"], { id: 7n, name: "T", policies: [] }],
  [entities.name]: [[bytesOf(3), bytesOf(3)], entityRecord(1n, [["P", 2, 5]])],
  [file.shares.name]: [["s"], share],
  [file.deletedShares.name]: [["s", 5n], { ...share, ...deleted }],
  [file.shareSnapshots.name]: [[5n], { ...share, at: 5n }],
  [file.permissions.name]: [["key"], { sddl: "O:SYG:SY" }],
  [file.nodes.name]: [[0n, "a"], node],
  [file.nodeLocations.name]: [[3n], { parent: 0n, folded: "a" }],
  [file.versions.name]: [[0n, "a", 1], { ...node, until: 2 }],
  [file.versionEnds.name]: [[2, 0n, "a", 1], {}],
};

function bytesOf(length: number): Uint8Array {
  return new Uint8Array(length).fill(65);
}

const archived = recordTables.filter(({ isArchived }) => isArchived);

function isLoaded(table: AnyTable, parts: readonly KeyPart[], value: Uint8Array): boolean {
  const key = encodeTaggedKey(table.tag, [5n, ...parts]);
  try {
    loadedRecord({ table: table.name, key, value }, (original) => original + 1000n);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(ArchiveRefused);
    return false;
  }
}

/** One value of each type, and values outside of all ranges. */
const types: readonly unknown[] = ["word", 5, 5n, true, null, Uint8Array.of(1), [1], { x: 1 }];
const others = [...types, -5, 0.5, -5n, 2n ** 70n];
const refusedMin = others.length - 2;

describe.each(archived.map((table) => [table.name, table] as const))(
  "records of %s",
  (_, table) => {
    const [parts, record] = samples[table.name] ?? [[], {}];
    const encode = (value: object) => table.codec.encode(value);

    it("are loaded", () => {
      expect(isLoaded(table, parts, encode(record))).toBe(true);
    });

    it("are refused with a key of other parts", () => {
      const value = encode(record);
      expect(isLoaded(table, [...parts, "more"], value)).toBe(false);
      expect(isLoaded(table, parts.slice(1), value)).toBe(false);
      for (const index of parts.keys()) {
        for (const other of ["word", 5, 5n, Uint8Array.of(1)] as const) {
          if (typeof other === typeof parts[index]) continue;
          expect(
            isLoaded(table, [...parts.slice(0, index), other, ...parts.slice(index + 1)], value),
          ).toBe(false);
        }
      }
      expect(decodeKey(encodeTaggedKey(table.tag, parts), 1)).toEqual(parts);
    });

    it("are refused with a field of another type, without a field or with an unknown one", () => {
      if (table.name === entities.name) {
        const bytes = encode(record);
        for (let at = 0; at < bytes.length; at += 1) {
          // Without properties, an entity is its head.
          expect([at, isLoaded(table, parts, bytes.subarray(0, at))]).toEqual([
            at,
            at === headBytes,
          ]);
        }
        expect(isLoaded(table, parts, Buffer.concat([bytes, Uint8Array.of(1)]))).toBe(false);
        return;
      }
      const isPositional = encode({ ...record, unknown: 1 }).length === encode(record).length;
      expect(isPositional || !isLoaded(table, parts, encode({ ...record, unknown: 1 }))).toBe(true);
      for (const [field, value] of Object.entries(record)) {
        const refused = others.filter((other) => {
          if (JSON.stringify(String(other)) === JSON.stringify(String(value))) return true;
          return !isStored(table, parts, { ...record, [field]: other }, field);
        });
        expect([field, refused.length >= refusedMin]).toEqual([field, true]);
        expect([field, isStored(table, parts, { ...record, [field]: Number.NaN }, field)]).toEqual([
          field,
          false,
        ]);
      }
    });
  },
);

/** Whether a record with this field can be encoded, unchanged, and loaded. */
function isStored(
  table: AnyTable,
  parts: readonly KeyPart[],
  record: Readonly<Record<string, unknown>>,
  field: string,
): boolean {
  let value: Uint8Array;
  try {
    value = table.codec.encode(record);
  } catch {
    return false;
  }
  const stored = (table.codec.decode(value) as Readonly<Record<string, unknown>>)[field];
  return typeof stored === typeof record[field] && isLoaded(table, parts, value);
}

it("every archived table has a sample", () => {
  expect(Object.keys(samples).toSorted()).toEqual(archived.map(({ name }) => name).toSorted());
});

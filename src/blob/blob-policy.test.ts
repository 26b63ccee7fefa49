import { describe, expect, it } from "vitest";
import { decideOn, testNow } from "../../tests/harness/decisions.ts";
import { appendBlock } from "./append/append-block.ts";
import { abortCopyBlob } from "./copy/copy-blob.ts";
import { dfsService } from "./dfs/service.ts";
import { operations } from "./operations.ts";
import { getBlob, getBlobProperties } from "./read/get-blob.ts";
import type { BlobRecord } from "./records.ts";
import { setBlobTags } from "./tags/blob-tags.ts";
import { blob, blobOf, blobState, receivedBytes } from "../../tests/harness/blob-decisions.ts";
import { setBlobTier } from "./tier/set-blob-tier.ts";
import { putBlockBlob } from "./write/put-blob.ts";
import { setBlobMetadata } from "./write/set-blob-properties.ts";

const copy = { id: "", source: "", status: "pending", copiedBytes: 0, totalBytes: 1 } as const;
const immutability = { until: testNow + 1n, mode: "unlocked" } as const;
const states = {
  plain: {},
  archived: { tier: "Archive" },
  "pending copy": { copy },
  "incremental copy": { incrementalCopy: true },
  "legal hold": { legalHold: true },
  immutable: { immutability },
  encrypted: { keySha256: new Uint8Array(32) },
} as const satisfies Readonly<Record<string, Partial<BlobRecord>>>;

const ok = "ok";
const pending = "PendingCopyOperation";
const incremental = "OperationNotAllowedOnIncrementalCopyBlob";
const held = "BlobImmutableDueToLegalHold";
const policy = "BlobImmutableDueToPolicy";
const key = "BlobUsesCustomerSpecifiedEncryption";

const columns = Object.keys(states) as (keyof typeof states)[];
const rows = [
  ["Get Blob", getBlob, [ok, "BlobArchived", ok, incremental, ok, ok, key]],
  ["Get Blob Properties", getBlobProperties, [ok, ok, ok, ok, ok, ok, key]],
  ["Put Blob", putBlockBlob, [ok, ok, pending, incremental, held, policy, ok]],
  ["Set Blob Metadata", setBlobMetadata, [ok, ok, pending, incremental, held, policy, key]],
  ["Set Blob Tags", setBlobTags, [ok, ok, pending, ok, ok, ok, ok]],
] as const;

describe("policies of operations, by state of the blob", () => {
  it.each(rows)("%s", (_name, operation, expected) => {
    const request = { received: receivedBytes(4), body: {} };
    const results = columns.map((name) => {
      const decision = decideOn(operation, blobState({ ...blob, ...states[name] }), request);
      return typeof decision === "string" ? decision : ok;
    });
    expect(results).toEqual(expected);
  });

  it("Put Blob replaces an immutable blob with versioning", () => {
    const state = blobState({ ...blob, immutability }, { versioning: true });
    expect(decideOn(putBlockBlob, state, { received: receivedBytes(4) })).toBeTypeOf("object");
  });

  it("Append Block to an immutable blob is rejected with versioning, too", () => {
    const state = blobState(blobOf("AppendBlob", { immutability }), { versioning: true });
    expect(decideOn(appendBlock, state, { received: receivedBytes(4) })).toBe(policy);
  });

  it("Abort Copy Blob is allowed while a copy is pending", () => {
    const query = { copyid: "99999999-9999-4999-8999-999999999999" };
    expect(decideOn(abortCopyBlob, blobState({ ...blob, copy }), { query })).toBe("CopyIdMismatch");
  });

  const at = testNow - 5n;
  it.each([
    ["Get Blob", getBlob, ok, ok],
    ["Put Blob", putBlockBlob, "InvalidQueryParameterValue", "InvalidQueryParameterValue"],
    ["Set Blob Tags", setBlobTags, "InvalidQueryParameterValue", ok],
    ["Set Blob Tier", setBlobTier, ok, ok],
  ] as const)("%s of a snapshot and of a version", (_name, operation, onSnapshot, onVersion) => {
    const headers = { "x-ms-access-tier": "Cool" };
    const request = { received: receivedBytes(4), body: {}, headers };
    const results = [{ snapshot: at }, { versionId: at }].map((address) => {
      const decision = decideOn(operation, blobState(blob, { address }), request);
      return typeof decision === "string" ? decision : ok;
    });
    expect(results).toEqual([onSnapshot, onVersion]);
  });

  it("every operation on a blob declares one", () => {
    const onBlobs = operations.filter(({ route }) => route.resource === "blob");
    expect(onBlobs.length).toBeGreaterThan(30);
    expect(onBlobs.filter((each) => each.policy === undefined)).toEqual([]);
  });
});

describe("roles of parameters", () => {
  const named = [...operations, ...dfsService.operations];

  it.each(named.map((operation) => [operation.name, operation] as const))(
    "%s knows the fields of all its parameters with a role",
    (_name, { params, roles }) => {
      const declared = Object.entries(params).flatMap(([field, { role }]) =>
        role === undefined ? [] : [[role, field] as const],
      );
      expect(roles).toEqual(Object.fromEntries(declared));
    },
  );

  it("many operations have encryption", () => {
    const encrypting = named.filter(({ roles }) => roles?.encryption !== undefined);
    expect(encrypting.length).toBeGreaterThan(10);
  });
});

import { describe, expect, it } from "vitest";
import type { Operation } from "../operation/operation.ts";
import { decideOn, testNow, type TestRequest } from "../../tests/harness/decisions.ts";
import { formatHttpDate } from "../base/dates.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import { formatETag } from "../protocol/conditions.ts";
import { ok } from "../protocol/result.ts";
import { appendBlock } from "./append/append-block.ts";
import { putBlockList } from "./block/put-block-list.ts";
import { copyBlob } from "./copy/copy-blob.ts";
import { putPage } from "./page/put-page.ts";
import type { BlobRecord } from "./records.ts";
import {
  blob,
  blobOf,
  blobState,
  leaseA,
  leaseB,
  leases,
  receivedBytes,
} from "../../tests/harness/blob-decisions.ts";
import { setBlobTier } from "./tier/set-blob-tier.ts";
import { putBlockBlob } from "./write/put-blob.ts";

const earlier = formatHttpDate(blob.etag - 10n * ticksPerSecond);
const later = formatHttpDate(blob.etag + 10n * ticksPerSecond);
const current = formatETag(blob.etag);
const other = formatETag(blob.etag - 1n);

/** The code of a fault, or `ok`. */
function result(operation: Operation, target: BlobRecord | undefined, request: TestRequest) {
  const readResult = operation === putBlockList ? noBlocks : undefined;
  const decision = decideOn(operation, blobState(target, { readResult }), request);
  return typeof decision === "string" ? decision : "ok";
}

const noBlocks = { lookup: { stored: undefined, live: undefined }, parts: ok([]) };

const writes = {
  "Put Blob": { operation: putBlockBlob, target: blob, request: { received: receivedBytes(4) } },
  "Put Block List": { operation: putBlockList, target: blob, request: { body: [] } },
  "Append Block": {
    operation: appendBlock,
    target: blobOf("AppendBlob"),
    request: { received: receivedBytes(4) },
  },
  "Put Page": {
    operation: putPage,
    target: blobOf("PageBlob"),
    request: {
      received: receivedBytes(512),
      headers: { "x-ms-range": "bytes=0-511", "x-ms-page-write": "update" },
    },
  },
} as const;

const failed = "ConditionNotMet";

/** learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-
 *  operations: on an existing blob, and on an absent one for operations that create. */
const conditions: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] =
  [
    ["no condition", {}, "ok", "ok"],
    ["If-Match: current", { "if-match": current }, "ok", failed],
    ["If-Match: other", { "if-match": other }, failed, failed],
    ["If-Match: *", { "if-match": "*" }, "ok", failed],
    ["If-None-Match: current", { "if-none-match": current }, failed, "ok"],
    ["If-None-Match: other", { "if-none-match": other }, "ok", "ok"],
    ["If-Modified-Since: before", { "if-modified-since": earlier }, "ok", "ok"],
    ["If-Modified-Since: after", { "if-modified-since": later }, failed, "ok"],
    ["If-Unmodified-Since: before", { "if-unmodified-since": earlier }, failed, "ok"],
    ["If-Unmodified-Since: after", { "if-unmodified-since": later }, "ok", "ok"],
  ];

describe.each(Object.entries(writes))(
  "conditions of %s",
  (name, { operation, target, request }) => {
    it.each(conditions)("%s", (_condition, headers, onExisting, onAbsent) => {
      const conditional = { ...request, headers: { ...plainHeaders(request), ...headers } };
      expect(result(operation, target, conditional)).toBe(onExisting);
      const creates = operation.target === "may-exist";
      const expected = creates ? onAbsent : "BlobNotFound";
      expect(result(operation, undefined, conditional), name).toBe(expected);
    });

    it("If-None-Match: * creates, and fails on an existing blob unless it is ignored", () => {
      const headers = { ...plainHeaders(request), "if-none-match": "*" };
      const creates = operation.target === "may-exist";
      const onExisting = creates
        ? "BlobAlreadyExists"
        : operation.ifNoneMatchAny === "ignored"
          ? "ok"
          : failed;
      expect(result(operation, target, { ...request, headers })).toBe(onExisting);
      expect(result(operation, undefined, { ...request, headers })).toBe(
        creates ? "ok" : "BlobNotFound",
      );
    });

    it.each([
      ["available", undefined, "ok"],
      ["available", leaseA, "LeaseNotPresentWithBlobOperation"],
      ["leased", undefined, "LeaseIdMissing"],
      ["leased", leaseA, "ok"],
      ["leased", leaseB, "LeaseIdMismatchWithBlobOperation"],
      ["breaking", undefined, "LeaseIdMissing"],
      ["breaking", leaseA, "ok"],
      ["broken", undefined, "ok"],
      ["broken", leaseA, "LeaseLost"],
      ["expired", undefined, "ok"],
      ["expired", leaseA, "LeaseLost"],
    ] as const)("on a blob with lease state %s, with lease id %s: %s", (state, id, expected) => {
      const headers = { ...plainHeaders(request), ...(id && { "x-ms-lease-id": id }) };
      const leased = { ...target, lease: leases[state] };
      expect(result(operation, leased, { ...request, headers })).toBe(expected);
    });
  },
);

function plainHeaders(request: TestRequest): Readonly<Record<string, string>> {
  return request.headers ?? {};
}

describe("Append Block to a blob of 1,024 bytes", () => {
  it.each([
    ["at the end", { "x-ms-blob-condition-appendpos": "1024" }, {}, "ok"],
    ["elsewhere", { "x-ms-blob-condition-appendpos": "0" }, {}, "AppendPositionConditionNotMet"],
    ["up to the maximum", { "x-ms-blob-condition-maxsize": "1028" }, {}, "ok"],
    ["beyond it", { "x-ms-blob-condition-maxsize": "1027" }, {}, "MaxBlobSizeConditionNotMet"],
    ["to a sealed blob", {}, { sealed: true }, "BlobIsSealed"],
    ["as block 50,000", {}, { committedBlockCount: 49_999 }, "ok"],
    ["as block 50,001", {}, { committedBlockCount: 50_000 }, "BlockCountExceedsLimit"],
    ["to a block blob", {}, { type: "BlockBlob" }, "InvalidBlobType"],
  ] as const)("%s", (_case, headers, more, expected) => {
    const target = blobOf("AppendBlob", more);
    expect(result(appendBlock, target, { headers, received: receivedBytes(4) })).toBe(expected);
  });
});

describe("Put Page to a page blob of 1,024 bytes with sequence number 5", () => {
  const failure = "SequenceNumberConditionNotMet";
  it.each([
    ["eq 5", { "x-ms-if-sequence-number-eq": "5" }, "bytes=0-511", "ok"],
    ["eq 4", { "x-ms-if-sequence-number-eq": "4" }, "bytes=0-511", failure],
    ["le 5", { "x-ms-if-sequence-number-le": "5" }, "bytes=0-511", "ok"],
    ["le 4", { "x-ms-if-sequence-number-le": "4" }, "bytes=0-511", failure],
    ["lt 6", { "x-ms-if-sequence-number-lt": "6" }, "bytes=0-511", "ok"],
    ["lt 5", { "x-ms-if-sequence-number-lt": "5" }, "bytes=0-511", failure],
    ["last page", {}, "bytes=512-1023", "ok"],
    ["beyond the end", {}, "bytes=1024-1535", "InvalidPageRange"],
  ] as const)("%s", (_case, headers, range, expected) => {
    const target = blobOf("PageBlob", { sequenceNumber: 5n });
    const request = { headers: { ...headers, "x-ms-range": range }, received: receivedBytes(512) };
    expect(result(putPage, target, request)).toBe(expected);
  });
});

describe("Set Blob Tier", () => {
  const archived = { ...blob, tier: "Archive" };
  const rehydration = { to: "Hot", due: testNow + 1n, priority: "Standard" } as const;
  it.each([
    ["block blob to Cool", blob, "Cool", "200 Cool"],
    ["block blob to a page tier", blob, "P10", "InvalidHeaderValue"],
    ["block blob to Archive", blob, "Archive", "200 Archive"],
    ["archived blob to Hot", archived, "Hot", "202 Archive"],
    ["archived blob to Archive", archived, "Archive", "200 Archive"],
    ["rehydrating blob to the same tier", { ...archived, rehydration }, "Hot", "202 Archive"],
    [
      "rehydrating blob to another tier",
      { ...archived, rehydration },
      "Cool",
      "BlobBeingRehydrated",
    ],
    [
      "archived version to Hot",
      { ...archived, superseded: true },
      "Hot",
      "BlobOperationNotSupported",
    ],
    ["page blob to P10", blobOf("PageBlob"), "P10", "200 P10"],
    [
      "page blob to a lower tier",
      blobOf("PageBlob", { tier: "P20" }),
      "P10",
      "CannotChangeToLowerTier",
    ],
    ["page blob to Hot", blobOf("PageBlob"), "Hot", "InvalidBlobTier"],
    ["append blob to Hot", blobOf("AppendBlob"), "Hot", "InvalidBlobType"],
  ] as const)("%s", (_case, target, tier, expected) => {
    const headers = { "x-ms-access-tier": tier };
    const decision = decideOn(setBlobTier, blobState(target), { headers });
    const stored = (written: object | undefined) => (written as BlobRecord | undefined)?.tier;
    const shown =
      typeof decision === "string"
        ? decision
        : `${decision.status ?? 200} ${stored(decision.put) ?? ""}`;
    expect(shown).toBe(expected);
  });
});

describe("Copy Blob within the server", () => {
  const locked = leases.leased;
  const archived = { ...blob, tier: "Archive" };
  it.each([
    ["onto nothing", blob, undefined, {}, "ok"],
    ["onto a blob", blob, blob, {}, "ok"],
    ["onto a blob of another type", blob, blobOf("PageBlob"), {}, "InvalidBlobType"],
    ["onto a leased blob", blob, { ...blob, lease: locked }, {}, "LeaseIdMissing"],
    ["with its lease id", blob, { ...blob, lease: locked }, { "x-ms-lease-id": leaseA }, "ok"],
    ["from a leased blob", { ...blob, lease: locked }, undefined, {}, "ok"],
    [
      "from a leased blob with another id",
      { ...blob, lease: locked },
      undefined,
      { "x-ms-source-lease-id": leaseB },
      "LeaseIdMismatchWithBlobOperation",
    ],
    [
      "source If-Match: other",
      blob,
      undefined,
      { "x-ms-source-if-match": other },
      "SourceConditionNotMet",
    ],
    ["If-Match: other", blob, blob, { "if-match": other }, "TargetConditionNotMet"],
    ["from an archived blob", archived, undefined, {}, "BlobArchived"],
    ["from an archived blob to Hot", archived, undefined, { "x-ms-access-tier": "Hot" }, "ok"],
    [
      "from a blob with a client's key",
      { ...blob, keySha256: new Uint8Array(32) },
      undefined,
      {},
      "BlobUsesCustomerSpecifiedEncryption",
    ],
  ] as const)("%s", (_case, source, target, headers, expected) => {
    const url = "http://localhost/account/container/source";
    const { address } = blobState(blob);
    const own = {
      kind: "same-service",
      url,
      account: "account",
      address,
      authorise: () => ok(undefined),
    };
    const readResult = { upload: undefined, local: ok(source) };
    const state = blobState(target, { readResult });
    const request = { headers, source: own as unknown as NonNullable<TestRequest["source"]> };
    const decision = decideOn(copyBlob, state, request);
    expect(typeof decision === "string" ? decision : "ok").toBe(expected);
  });

  it("onto a blob with a pending copy is rejected", () => {
    const copy = { id: "", source: "", status: "pending", copiedBytes: 0, totalBytes: 1 } as const;
    expect(result(putBlockBlob, { ...blob, copy }, { received: receivedBytes(4) })).toBe(
      "PendingCopyOperation",
    );
  });
});

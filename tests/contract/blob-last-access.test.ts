import { describe, expect, it } from "vitest";
import { lastAccess, lastAccessUpdate } from "../../src/blob/read/blob-properties.ts";
import type { BlobRecord } from "../../src/blob/records.ts";
import type { BlobAddress, ContainerScope } from "../../src/blob/resources.ts";
import { emptyContent } from "../../src/content/content-ref.ts";
import { ticksPerDay } from "../../src/base/ticks.ts";

const on = {
  versioning: false,
  containerSoftDeleteDays: 0,
  shareSoftDeleteDays: 0,
  publicAccess: true,
  lastAccessTracking: true,
};
const written = 638_396_640_000_000_000n;
const blob: BlobRecord = {
  etag: written,
  created: written,
  type: "BlockBlob",
  content: emptyContent,
  headers: {},
  metadata: [],
};
const address: BlobAddress = {
  resource: "blob",
  container: "c",
  blob: "b",
  snapshot: undefined,
  versionId: undefined,
};
const scope = { container: { id: 1n } } as ContainerScope;

describe("the last access time", () => {
  it("is the time of the last write until a read at least a day later", () => {
    expect(lastAccess(blob, on)).toBe(written);
    expect(lastAccess({ ...blob, lastAccess: written + 5n }, on)).toBe(written + 5n);
    const now = written + ticksPerDay - 1n;
    const soon = { target: blob, scope, address, features: on, now, newETag: now };
    expect(lastAccessUpdate(soon)).toEqual({});
    const later = { ...soon, now: written + ticksPerDay };
    const { deferredUpdate: note } = lastAccessUpdate(later);
    expect(note?.change(blob)).toEqual({ ...blob, lastAccess: later.now });
  });

  it("is not set on a blob that was overwritten meanwhile", () => {
    const now = written + ticksPerDay;
    const { deferredUpdate: note } = lastAccessUpdate({
      target: blob,
      scope,
      address,
      features: on,
      now,
      newETag: now,
    });
    expect(note?.change({ ...blob, etag: written + 1n })).toBeUndefined();
  });

  it("is not returned if the account does not track it, nor for other blob types", () => {
    expect(lastAccess(blob, { ...on, lastAccessTracking: false })).toBeUndefined();
    expect(lastAccess({ ...blob, type: "PageBlob" }, on)).toBeUndefined();
  });
});

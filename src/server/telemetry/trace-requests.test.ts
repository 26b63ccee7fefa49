import { describe, expect, it } from "vitest";
import type { ObjectChange } from "../../admin/feed/feed-event.ts";
import { blobService } from "../../blob/service.ts";
import { LastWriters, slotBits, splitHost } from "./trace-requests.ts";

const path = { name: "box", path: "b" };
const object = { service: "blob", account: "a", place: path } as const;
const span = { traceId: "a".repeat(32), spanId: "b".repeat(16), traceFlags: 1 };
/** Two ETags whose writers share a slot. */
const first = 2n ** 40n;
const second = first + 2n ** BigInt(slotBits);

function change(kind: ObjectChange["kind"], requestId: string, etag?: bigint): ObjectChange {
  const address = { resource: "blob", container: "box", blob: "b" };
  return { kind, requestId, etag, service: blobService, account: "a", address };
}

const found = (etag: bigint) => ({ isAboutLease: false, found: true, etag });
const absent = { isAboutLease: false, found: false, etag: undefined };
const aboutLease = { isAboutLease: true, found: true, etag: first };

describe("the last writers", () => {
  it("are known by the ETag that they wrote, until another write takes their slot", () => {
    const writers = new LastWriters();
    writers.add(change("write", "one", first), span);
    expect(writers.of(object, found(first))).toEqual({ requestId: "one", span });
    expect(writers.of(object, found(second))).toBeUndefined();
    writers.add(change("write", "two", second), undefined);
    expect(writers.of(object, found(first))).toBeUndefined();
    expect(writers.of(object, found(second))).toEqual({ requestId: "two", span: undefined });
  });

  it("are those of a deletion while the object is absent", () => {
    const writers = new LastWriters();
    writers.add(change("deletion", "delete", undefined), span);
    expect(writers.of(object, absent)).toEqual({ requestId: "delete", span });
    // A request that was rejected before the object was read.
    expect(writers.of(object, { ...absent, found: undefined })).toBeUndefined();
    writers.add(change("write", "again", first), undefined);
    expect(writers.of(object, absent)).toBeUndefined();
  });

  it("of a lease are its last action, until the object is deleted", () => {
    const writers = new LastWriters();
    writers.add(change("lease", "acquire"), span);
    writers.add(change("write", "one", first), undefined);
    expect(writers.of(object, aboutLease)).toEqual({ requestId: "acquire", span });
    writers.add(change("deletion", "delete"), undefined);
    expect(writers.of(object, aboutLease)).toBeUndefined();
  });
});

describe("the host of a request", () => {
  it.each([
    ["localhost", "localhost", undefined],
    ["localhost:10000", "localhost", 10_000],
    ["[::1]", "[::1]", undefined],
    ["[::1]:10000", "[::1]", 10_000],
    ["a:65535", "a", 65_535],
    ["a:65536", "a:65536", undefined],
    ["a:", "a:", undefined],
    ["a:0x10", "a:0x10", undefined],
    ["a:1e3", "a:1e3", undefined],
    ["a:-5", "a:-5", undefined],
    ["a:99999999999999999999999", "a:99999999999999999999999", undefined],
  ])("%s is split into address and port", (text, host, port) => {
    expect(splitHost(text)).toEqual(port === undefined ? { host } : { host, port });
  });

  it("is limited", () => {
    expect(splitHost("a".repeat(10_000)).host).toHaveLength(512);
  });
});

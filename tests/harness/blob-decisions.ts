import { ticksPerSecond } from "../../src/base/ticks.ts";
import { emptyContent, type ReceivedBody } from "../../src/content/content-ref.ts";
import { testNow, type StoredState } from "./decisions.ts";
import type { Lease } from "../../src/protocol/lease.ts";
import type { BlobRecord, ContainerRecord } from "../../src/blob/records.ts";
import { resources, type BlobAddress, type ContainerScope } from "../../src/blob/resources.ts";
import type { Generation } from "../../src/blob/shared/overwrite.ts";

/** Records for tables of decisions. The blob is `container/blob`. */

export const leaseA = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
export const leaseB = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
export const leaseC = "cccccccc-cccc-4ccc-8ccc-cccccccccccc";

const second = ticksPerSecond;
const held = { id: leaseA, durationSeconds: 60 };

/** A lease with id A in each state of the documentation. */
export const leases = {
  available: undefined,
  leased: { ...held, expiresAt: testNow + 10n * second },
  breaking: { ...held, expiresAt: testNow + 10n * second, breaksAt: testNow + 5n * second },
  broken: { ...held, expiresAt: testNow + 10n * second, breaksAt: testNow - 1n },
  expired: { ...held, expiresAt: testNow - 1n },
} as const satisfies Readonly<Record<string, Lease | undefined>>;

export const container: ContainerRecord = {
  id: 7n,
  etag: testNow - 100n * second,
  metadata: [],
  policies: [],
};

const account = { id: 1n, properties: {} };
const retaining = { enabled: true, days: 7 };

function scope(softDelete: boolean): ContainerScope {
  const properties = softDelete ? { blob: { deleteRetention: retaining } } : {};
  return {
    account: { ...account, properties },
    container,
    key: { container: 7n, name: "blob" },
    ancestors: [],
    missingParents: [],
    hasFileAsParent: false,
    upload: undefined,
  };
}

export const blob: BlobRecord = {
  etag: testNow - 100n * second,
  created: testNow - 200n * second,
  type: "BlockBlob",
  content: emptyContent,
  headers: {},
  metadata: [],
};

/** A blob type with 1 KiB of content. */
export function blobOf(type: BlobRecord["type"], more: Partial<BlobRecord> = {}): BlobRecord {
  const bytes = new Uint8Array(1024);
  return { ...blob, type, content: { kind: "inline", length: 1024, bytes }, ...more };
}

export interface BlobStateOptions {
  readonly readResult?: unknown;
  readonly softDelete?: boolean;
  readonly versioning?: boolean;
  readonly address?: Partial<BlobAddress>;
}

export function blobState(
  target: BlobRecord | undefined,
  { readResult, softDelete = false, versioning = false, address }: BlobStateOptions = {},
): StoredState {
  const at = { container: "container", blob: "blob", snapshot: undefined, versionId: undefined };
  const whole: BlobAddress = { resource: "blob", ...at, ...address };
  const features = { versioning };
  const { blob: resource } = resources;
  return { resource, scope: scope(softDelete), address: whole, target, readResult, features };
}

export function containerState(target: ContainerRecord): StoredState {
  const at = { container: "container", blob: "", snapshot: undefined, versionId: undefined };
  const address: BlobAddress = { resource: "container", ...at };
  return { resource: resources.container, scope: { account }, address, target };
}

/** A stored snapshot, version or deleted state, `age` seconds old. */
export function generation(
  kind: Generation["key"]["kind"],
  age: number,
  more: Partial<BlobRecord> = {},
): Generation {
  const at = testNow - BigInt(age) * second;
  const marks = kind === "snapshot" ? { snapshot: at } : { versionId: at };
  return { key: { container: 7n, name: "blob", at, kind }, record: { ...blob, ...marks, ...more } };
}

export function receivedBytes(length: number): ReceivedBody {
  const source = { bytes: new Uint8Array(length) };
  return { length, md5: new Uint8Array(16), pieces: [{ length, source }] };
}

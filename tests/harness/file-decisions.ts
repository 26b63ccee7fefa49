import { emptyContent, type ContentRef } from "../../src/content/content-ref.ts";
import type { Lease } from "../../src/protocol/lease.ts";
import { Right, shareAll } from "../../src/file/locks/access.ts";
import { noLocks, type LockState, type Open } from "../../src/file/locks/lock-state.ts";
import type { NodeRecord, ShareRecord } from "../../src/file/records.ts";

/** Records for tables of decisions. */

export const testShare: ShareRecord = {
  id: 7n,
  etag: 1n,
  metadata: [],
  policies: [],
  quotaGib: 1,
  settings: {},
  epoch: 1,
  newestSnapshot: 0,
  snapshotCount: 0,
};

export function testFile(more: Partial<NodeRecord> = {}): NodeRecord {
  return {
    id: 3n,
    parent: 2n,
    name: "file",
    kind: "file",
    etag: 10n,
    since: 1,
    created: 1n,
    lastWrite: 2n,
    change: 3n,
    attributes: 0x20,
    metadata: [],
    content: emptyContent,
    allocated: 0,
    ...more,
  };
}

export function testDirectory(more: Partial<NodeRecord> = {}): NodeRecord {
  const { content: _, allocated: __, ...common } = testFile();
  return { ...common, kind: "directory", name: "directory", attributes: 0x10, ...more };
}

export function contentOf(length: number): ContentRef {
  return { kind: "inline", length, bytes: new Uint8Array(length) };
}

export function testOpen(more: Partial<Open> = {}): Open {
  return {
    id: 1n,
    owner: "test",
    access: Right.readData,
    share: shareAll,
    deleteOnClose: false,
    session: 1n,
    client: "client",
    openedAt: 0n,
    ...more,
  };
}

export function testLocks(opens: readonly Open[], more: Partial<LockState> = {}): LockState {
  return { ...noLocks, opens, ...more };
}

/** A REST lease that does not end. */
export const testLease: Lease = {
  id: "00000000-0000-0000-0000-000000000001",
  durationSeconds: -1,
};

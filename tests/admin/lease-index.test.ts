import { newLoopShare } from "../../src/base/loop-share.ts";
import { realClock } from "../../src/host/world.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { heldLeases } from "../../src/account/held-leases.ts";
import { heldLeasePage } from "../../src/admin/views/leases.ts";
import { blobs, containers } from "../../src/blob/records.ts";
import type { ContentStore } from "../../src/content/content.ts";
import { isLocked } from "../../src/protocol/lease.ts";
import type { Table } from "../../src/encoding/table.ts";
import { Records } from "../../src/operation/records.ts";
import { nodes, shares } from "../../src/file/records.ts";
import type { Store } from "../../src/store/store.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";

/** Operations on few names, so that leased resources are overwritten, moved and deleted. */

interface World {
  readonly store: Store;
  send(call: RawCall): Promise<{ readonly status: number }>;
  advance(milliseconds: number): void;
  reclaim(): Promise<number>;
}

const ids = ["1", "2"].map((digit) => `${digit.repeat(8)}-1111-1111-1111-111111111111`);
const id = fc.constantFrom(...ids);
const leaseStep = fc.oneof(
  fc.record({
    "x-ms-lease-action": fc.constant("acquire"),
    "x-ms-lease-duration": fc.constantFrom("15", "60", "-1"),
    "x-ms-proposed-lease-id": id,
  }),
  fc.record({ "x-ms-lease-action": fc.constantFrom("renew", "release"), "x-ms-lease-id": id }),
  fc.record({
    "x-ms-lease-action": fc.constant("change"),
    "x-ms-lease-id": id,
    "x-ms-proposed-lease-id": id,
  }),
  fc.record({
    "x-ms-lease-action": fc.constant("break"),
    "x-ms-lease-break-period": fc.constantFrom("0", "10"),
  }),
);
const advance = fc.record({ advance: fc.constantFrom(1000, 11_000, 61_000) });
const named = fc.record({ "x-ms-lease-id": id }, { requiredKeys: [] });

function leaseCalls(paths: fc.Arbitrary<string>): fc.Arbitrary<RawCall> {
  return fc.tuple(paths, leaseStep).map(([path, headers]) => ({ method: "PUT", path, headers }));
}

const box = fc.constantFrom("boxa", "boxb");
const name = fc.constantFrom("x", "y");
const blobCalls: fc.Arbitrary<RawCall> = fc.oneof(
  leaseCalls(fc.tuple(box, name).map(([c, b]) => `/${c}/${b}?comp=lease`)),
  leaseCalls(box.map((c) => `/${c}?restype=container&comp=lease`)),
  fc.tuple(box, name, named).map(([c, b, headers]) => ({
    method: "PUT",
    path: `/${c}/${b}`,
    headers: { ...headers, "x-ms-blob-type": "BlockBlob" },
    body: "text",
  })),
  fc.tuple(box, name, named).map(([c, b, headers]) => ({
    method: "DELETE",
    path: `/${c}/${b}`,
    headers: { ...headers, "x-ms-delete-snapshots": "include" },
  })),
  fc.tuple(box, name).map(([c, b]) => ({ method: "PUT", path: `/${c}/${b}?comp=snapshot` })),
  box.map((c) => ({ method: "PUT", path: `/${c}?restype=container` })),
  fc.tuple(box, named).map(([c, headers]) => ({
    method: "DELETE",
    path: `/${c}?restype=container`,
    headers,
  })),
);

const share = fc.constantFrom("shareone", "sharetwo");
const file = fc.constantFrom("x", "folder/x");
const fileCalls: fc.Arbitrary<RawCall> = fc.oneof(
  leaseCalls(fc.tuple(share, file).map(([s, f]) => `/${s}/${f}?comp=lease`)),
  leaseCalls(share.map((s) => `/${s}?restype=share&comp=lease`)),
  fc.tuple(share, file, named).map(([s, f, headers]) => ({
    method: "PUT",
    path: `/${s}/${f}`,
    headers: { ...headers, "x-ms-type": "file", "x-ms-content-length": "10" },
  })),
  fc.tuple(share, file, named).map(([s, f, headers]) => ({
    method: "DELETE",
    path: `/${s}/${f}`,
    headers,
  })),
  fc.tuple(share, named).map(([s, headers]) => ({
    method: "PUT",
    path: `/${s}/folder/x?comp=rename`,
    headers: {
      "x-ms-file-rename-source": `http://127.0.0.1:10003/devstoreaccount1/${s}/x`,
      "x-ms-file-rename-replace-if-exists": "true",
      ...(headers["x-ms-lease-id"] && { "x-ms-source-lease-id": headers["x-ms-lease-id"] }),
    },
  })),
  share.map((s) => ({ method: "PUT", path: `/${s}/folder?restype=directory` })),
  share.map((s) => ({ method: "PUT", path: `/${s}?restype=share` })),
  fc.tuple(share, named).map(([s, headers]) => ({
    method: "DELETE",
    path: `/${s}?restype=share`,
    headers,
  })),
);

/** All records with a held lease, found by a full scan. */
async function searched(records: Records): Promise<readonly string[]> {
  const found: string[] = [];
  const look = async (table: Table<never, never>, owners?: ReadonlySet<unknown>) => {
    for await (const batch of records.scan(table, table.range([]))) {
      for (const { key, record } of batch) {
        const { lease } = record as { lease?: Parameters<typeof isLocked>[0] };
        const isThere = owners === undefined || owners.has(table.parts(key)[0]);
        if (isThere && lease !== undefined && isLocked(lease, records.now)) found.push(lease.id);
      }
    }
  };
  const owners = new Set<unknown>();
  for (const table of [containers, shares]) {
    for await (const batch of records.scan(table as never, table.range([]))) {
      for (const { record } of batch) owners.add((record as { id: bigint }).id);
    }
  }
  await look(containers as never);
  await look(shares as never);
  // Leases of a deleted container are not held, although its reclaim job still runs.
  await look(blobs as never, owners);
  await look(nodes as never, owners);
  return found.toSorted();
}

const noContent = { loop: newLoopShare(realClock()) } as ContentStore;

/** Resolves with the number of held leases. */
function expectIndexToBeRight({ store }: World): Promise<number> {
  return store.snapshot(async (view) => {
    const records = new Records(view, noContent);
    const page = await heldLeasePage(records, {
      limit: 1000,
      after: undefined,
      sees: () => true,
    });
    const held = page.items.map((lease) => (lease as { id: string }).id).toSorted();
    expect(held).toEqual(await searched(records));
    return held.length;
  });
}

async function run(
  world: World,
  steps: readonly (RawCall | { readonly advance: number })[],
): Promise<number> {
  let seen = 0;
  for (const step of steps) {
    if ("advance" in step) world.advance(step.advance);
    else await world.send(step);
    seen += await expectIndexToBeRight(world);
  }
  return seen;
}

const runs = { numRuns: 30, seed: 20_261_115 };
/** With a database every step is a round trip. */
const timeout = 240_000;

it(
  "lists the held leases of blobs and containers after every kind of change",
  { timeout },
  async () => {
    let leases = 0;
    const steps = fc.array(fc.oneof({ weight: 6, arbitrary: blobCalls }, advance), {
      minLength: 10,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = await blobWorld();
        await world.send({ method: "PUT", path: "/boxa?restype=container" });
        leases += await run(world, all);
        for (const each of ["boxa", "boxb"]) await removeContainer(world, each);
        await world.reclaim();
        expect(await entriesOf(world.store)).toBe(0);
      }),
      runs,
    );
    // Shows that leases were held at all.
    expect(leases).toBeGreaterThan(40);
  },
);

it(
  "lists the held leases of files and shares after every kind of change",
  { timeout },
  async () => {
    let leases = 0;
    const steps = fc.array(fc.oneof({ weight: 6, arbitrary: fileCalls }, advance), {
      minLength: 10,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = await fileWorld();
        await world.send({ method: "PUT", path: "/shareone?restype=share" });
        await world.send({ method: "PUT", path: "/shareone/folder?restype=directory" });
        leases += await run(world, all);
      }),
      runs,
    );
    expect(leases).toBeGreaterThan(40);
  },
);

async function blobWorld(): Promise<World> {
  const held = {} as { store: Store };
  const keep = (store: Store): Store => {
    held.store = store;
    return store;
  };
  return worldOf(await simBlob({}, { store: keep }), held.store);
}

async function fileWorld(): Promise<World> {
  const service = await simFile();
  return worldOf(service, service.store);
}

function worldOf(service: SimBlob | SimFile, store: Store): World {
  return {
    store,
    send: (call) => service.send(call),
    advance: (milliseconds) => service.clock.advance(milliseconds),
    reclaim: () => service.reclaim(),
  };
}

async function removeContainer(world: World, container: string): Promise<void> {
  const path = `/${container}?restype=container`;
  const headers = { "x-ms-lease-action": "break", "x-ms-lease-break-period": "0" };
  await world.send({ method: "PUT", path: `${path}&comp=lease`, headers });
  await world.send({ method: "DELETE", path });
}

async function entriesOf(store: Store): Promise<number> {
  return store.snapshot(async (view) => {
    let count = 0;
    for await (const batch of view.range(heldLeases.range([]))) count += batch.length;
    return count;
  });
}

it("names leased files and directories of a hierarchical account by their paths", async () => {
  const sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
  const lease = { "x-ms-proposed-lease-id": ids[0]!, "x-ms-lease-duration": "-1" };
  for (const path of ["top", "a/b/file"]) {
    await sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=file`, headers: lease });
  }
  await sim.sendToDfs({ method: "PUT", path: "/fff/a/c?resource=directory", headers: lease });
  expect(await leasedPaths(sim)).toEqual(["a/b/file", "a/c", "top"]);
  const headers = { "x-ms-rename-source": "/fff/a" };
  await sim.sendToDfs({ method: "PUT", path: "/fff/moved?mode=legacy", headers });
  expect(await leasedPaths(sim)).toEqual(["moved/b/file", "moved/c", "top"]);
  await sim.sendToDfs({ method: "DELETE", path: "/fff/moved?recursive=true" });
  expect(await leasedPaths(sim)).toEqual(["top"]);
});

function leasedPaths({ store }: SimBlob): Promise<readonly string[]> {
  return store.snapshot(async (view) => {
    const bounds = { limit: 100, after: undefined, sees: () => true };
    const { items: leases } = await heldLeasePage(new Records(view, noContent), bounds);
    return leases.map((each) => (each as { path: string }).path).toSorted();
  });
}

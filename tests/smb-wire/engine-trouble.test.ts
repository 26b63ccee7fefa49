import { afterAll, beforeAll, expect, it } from "vitest";
import { accountsOf, developmentAccount } from "../../src/account/settings.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import { openDataStores, type DataStores } from "../../src/data/data-stores.ts";
import { resolveOptions } from "../../src/server/options.ts";
import { simWorld } from "../harness/sim-world.ts";
import { newRequestLimits } from "../../src/server/request-limits.ts";
import { listenSmb, type SmbEndpoint } from "../../src/server/smb-endpoint.ts";
import { realEnvironment } from "../../src/host/world.ts";
import { Status } from "../../src/smb/status.ts";
import { SnapshotTooOld } from "../../src/store/open-views.ts";
import { StoreBusy, StoreClosed, StoreUnavailable, type Store } from "../../src/store/store.ts";
import { WireClient } from "./wire-client.ts";

const { log } = simWorld(1);
let trouble: Error | undefined;
let stores: DataStores;
let endpoint: SmbEndpoint;

/** A store that fails on request. */
function troubled(real: Store): Store {
  const check = (): void => {
    if (trouble !== undefined) throw trouble;
  };
  return {
    transact: async (work, options) => (check(), real.transact(work, options)),
    snapshot: async (work, options) => (check(), real.snapshot(work, options)),
    watch: (prefix, onChange) => real.watch(prefix, onChange),
    raiseSequence: (to) => real.raiseSequence(to),
    close: () => real.close(),
  };
}

beforeAll(async () => {
  const world = realEnvironment(log);
  const inMemory = { location: undefined, storeUrl: undefined, contentUrl: undefined };
  stores = await openDataStores({ ...inMemory, memoryBytesMax: 2 ** 20, ...world });
  const options = resolveOptions({ port: 0 });
  if (!options.ok) throw new Error(options.problems.join("\n"));
  endpoint = await listenSmb({
    ...world,
    meter: noMeter,
    accounts: accountsOf([developmentAccount()]),
    stores: { ...stores, store: troubled(stores.store) },
    options: options.value,
    observer: { watch: undefined },
    ...newRequestLimits(world.clock),
  });
});
afterAll(async () => {
  trouble = undefined;
  await endpoint.stop();
  await stores.close();
});

it.each<[Error, readonly string[]]>([
  [
    new StoreUnavailable("the disk is full"),
    ["storage unavailable; SMB request failed with INSUFFICIENT_RESOURCES"],
  ],
  [
    new StoreBusy("too many wait"),
    ["storage unavailable; SMB request failed with INSUFFICIENT_RESOURCES"],
  ],
  [
    new SnapshotTooOld("a view was kept for too long"),
    ["storage unavailable; SMB request failed with INSUFFICIENT_RESOURCES"],
  ],
  [new StoreClosed("the store was closed"), []],
])("fails a request, not the connection: %s", async (problem, messages) => {
  const client = await WireClient.open(endpoint.url);
  await client.negotiate();
  await client.logIn();
  const before = log.lines.length;
  trouble = problem;
  expect((await client.connectTo("share")).status).toBe(Status.insufficientResources);
  trouble = undefined;
  const logged = log.lines
    .slice(before)
    .filter(({ level }) => level === "warn" || level === "error");
  expect(logged.map(({ message }) => message)).toEqual(messages);
  expect((await client.connectTo("share")).status).not.toBe(Status.insufficientResources);
  client.end();
});

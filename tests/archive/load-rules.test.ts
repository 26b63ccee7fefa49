import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start, ArchiveRefused, type EtagereServer, type StartOptions } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const flat = join(folder, "flat.etagere");
const lake = join(folder, "lake.etagere");
const both = join(folder, "both.etagere");
const key = Buffer.alloc(32, 1).toString("base64");
let server: EtagereServer;

const serve = (options: StartOptions = {}): Promise<EtagereServer> =>
  start({ ...freePorts, noSmb: true, inMemoryPersistence: true, ...options });

function clientOf({ urls }: EtagereServer, account: string, accountKey: string): BlobServiceClient {
  const endpoint = `BlobEndpoint=${urls.blob}/${account}`;
  const connection = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${accountKey};${endpoint}`;
  return BlobServiceClient.fromConnectionString(connection);
}

async function containersOf(client: BlobServiceClient): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of client.listContainers()) found.push(name);
  return found;
}

const refusal = (load: Promise<unknown>): Promise<string> =>
  load.then(
    () => "loaded",
    (error: unknown) => (error instanceof ArchiveRefused ? error.message : `${String(error)}!`),
  );

beforeAll(async () => {
  const lakeAccount = { hierarchicalNamespace: true, keys: [key] } as const;
  await using source = await serve({ accounts: { flat: { keys: [key] }, lake: lakeAccount } });
  await clientOf(source, "flat", key).createContainer("archived");
  await clientOf(source, "lake", key).createContainer("archived");
  await source.export(flat, { accounts: ["flat"] });
  await source.export(lake, { accounts: ["lake"] });
  await source.export(both);
  server = await serve({ accounts: { flat: { keys: [key] }, busy: { keys: [key] } } });
  await clientOf(server, "busy", key).createContainer("present");
});
afterAll(() => server.stop());

describe("a load", () => {
  it("into an account with data is refused, and replaces it only on request", async () => {
    const client = clientOf(server, "busy", key);
    expect(await refusal(server.load(flat, { as: "busy" }))).toBe(
      'account "busy" has data: replace it (--replace), or load under another name (--as)',
    );
    expect(await containersOf(client)).toEqual(["present"]);
    const { accounts } = await server.load(flat, { as: "busy", replace: true });
    expect(accounts).toEqual([{ name: "busy", isReplaced: true }]);
    expect(await containersOf(client)).toEqual(["archived"]);
  });

  it("into an account without data replaces nothing, and keeps its keys", async () => {
    const { accounts } = await server.load(flat);
    expect(accounts).toEqual([{ name: "flat", isReplaced: false }]);
    expect(await containersOf(clientOf(server, "flat", key))).toEqual(["archived"]);
  });

  it("creates an account that does not exist, with keys that work at once", async () => {
    const [loaded] = (await server.load(lake)).accounts;
    expect(loaded?.keys).toHaveLength(2);
    const client = clientOf(server, "lake", loaded?.keys?.[0] ?? "");
    expect(await containersOf(client)).toEqual(["archived"]);
    const info = await client.getAccountInfo();
    expect(info).toMatchObject({ isHierarchicalNamespaceEnabled: true });
  });

  it("of a hierarchical account into a flat one is refused", async () => {
    expect(await refusal(server.load(lake, { as: "busy", replace: true }))).toContain(
      'account "busy" has a flat namespace, the archive a hierarchical one',
    );
    expect(await containersOf(clientOf(server, "busy", key))).toHaveLength(1);
  });

  it("of several accounts takes no other name, and loads all or none", async () => {
    expect(await refusal(server.load(both, { as: "x" }))).toContain("--as: the archive has 2");
    await using target = await serve({ accounts: { flat: { keys: [key] } } });
    await clientOf(target, "flat", key).createContainer("present");
    expect(await refusal(target.load(both))).toContain('account "flat" has data');
    const second = await refusal(target.export(join(folder, "none"), { accounts: ["lake"] }));
    expect(second).toBe('no account "lake"');
  });

  it("under a name that no new account may have is refused", async () => {
    expect(await refusal(server.load(flat, { as: "No Name" }))).toContain("3 to 24 lower-case");
  });

  it("keeps keys of stored accounts out of archives unless they are requested", async () => {
    const stored = { stored: (await server.load(flat, { as: "stored" })).accounts[0]?.keys };
    const without = join(folder, "without.etagere");
    const withKeys = join(folder, "with.etagere");
    await server.export(without, { accounts: ["stored"] });
    await server.export(withKeys, { accounts: ["stored"], withKeys: true });
    await using target = await serve();
    const [fresh] = (await target.load(without)).accounts;
    expect(fresh?.keys).not.toEqual(stored.stored);
    const [same] = (await target.load(withKeys, { as: "other" })).accounts;
    expect(same?.keys).toEqual(stored.stored);
  });

  it("keeps pop receipts, so that a message in flight can be deleted", async () => {
    const file = join(folder, "queue.etagere");
    await using source = await serve();
    const queue = QueueServiceClient.fromConnectionString(source.connectionString);
    await queue.createQueue("jobs");
    await queue.getQueueClient("jobs").sendMessage("one");
    const { receivedMessageItems } = await queue.getQueueClient("jobs").receiveMessages();
    const [{ messageId, popReceipt } = { messageId: "", popReceipt: "" }] = receivedMessageItems;
    await source.export(file);
    await using target = await serve();
    await target.load(file);
    const loaded = QueueServiceClient.fromConnectionString(target.connectionString);
    await loaded.getQueueClient("jobs").deleteMessage(messageId, popReceipt);
    const { approximateMessagesCount } = await loaded.getQueueClient("jobs").getProperties();
    expect(approximateMessagesCount).toBe(0);
  });
});

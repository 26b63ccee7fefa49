import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { start, type EtagereServer, type StartOptions } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { openDatabase, type Database } from "../postgres/database.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { close, openFile, read, write } from "../smb-wire/wire-messages.ts";
import { hidden, plant, planted, readable, readPlanted } from "./plant.ts";

const folder = temporaryFolder();
const keyFile = join(folder, "master.key");
const encryption = `file:${keyFile}`;
const smbFile = "over-smb.txt";

beforeAll(() => writeFileSync(keyFile, randomBytes(32).toString("base64")));

async function plantOverSmb({ smbUrl }: EtagereServer): Promise<void> {
  const client = await WireClient.ready(smbUrl, readable.share);
  const handle = await openFile(client, smbFile);
  await write(client, handle, planted(200));
  await write(client, handle, planted(60_000), 10_000);
  await close(client, handle);
  client.end();
}

async function readOverSmb({ smbUrl }: EtagereServer): Promise<string> {
  const client = await WireClient.ready(smbUrl, readable.share);
  const handle = await openFile(client, smbFile);
  const { text } = await read(client, handle, 60_000, 10_000);
  await close(client, handle);
  client.end();
  return text;
}

/** All bytes of all files below a folder. */
function bytesBelow(location: string): Buffer {
  const entries = readdirSync(location, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

async function plantAndRead(options: StartOptions): Promise<void> {
  const server = await start({ ...freePorts, ...options });
  await plant(server.urls);
  await plantOverSmb(server);
  await server.snapshot();
  await server.stop();
  const again = await start({ ...freePorts, ...options });
  const texts = await readPlanted(again.urls);
  expect(texts.length).toBeGreaterThan(10);
  for (const text of texts) expect(text).toContain(hidden);
  expect(await readOverSmb(again)).toContain(planted(60_000));
  // Changes after the snapshot leave former values.
  await plantOverSmb(again);
  await again.stop();
}

describe("encrypted data", () => {
  it("in a folder has no readable value of any service", async () => {
    const location = join(folder, "data");
    await plantAndRead({ location, encryption });
    const bytes = bytesBelow(location);
    expect(bytes.length).toBeGreaterThan(5_000_000);
    expect(bytes.includes(hidden)).toBe(false);
    expect(bytes.includes(Buffer.from(hidden, "utf16le"))).toBe(false);
    // The guide lists what stays readable; this keeps the list, and the search, honest.
    for (const [what, text] of Object.entries(readable)) {
      const isFound = [text.toLowerCase(), text.toUpperCase()].some((each) => bytes.includes(each));
      expect(isFound, what).toBe(true);
    }
  });

  it("is found by the same search if it is not encrypted", async () => {
    const location = join(folder, "plain");
    await plantAndRead({ location });
    expect(bytesBelow(location).includes(hidden)).toBe(true);
  });
});

describe("encrypted data of nodes", () => {
  let database: Database;
  let bucket: FakeS3;
  beforeAll(async () => {
    [database, bucket] = await Promise.all([openDatabase(), openFakeS3()]);
    vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await Promise.all([database.stop(), bucket.close()]);
  });

  it("in a database and a bucket has no readable value, and all nodes read it", async () => {
    const store = database.newUrl();
    const places = { store, content: bucket.location, noSmb: true };
    const startNode = (name: string, more: StartOptions) =>
      start({ port: 0, location: join(folder, name), ...places, ...more });
    const [one, other] = await Promise.all(
      ["one", "two"].map((name) => startNode(name, { encryption })),
    );
    if (one === undefined || other === undefined) throw new Error("two nodes are needed");
    await plant(one.urls);
    const texts = await readPlanted(other.urls);
    for (const text of texts) expect(text).toContain(hidden);
    await Promise.all([one.stop(), other.stop()]);
    const objects = Buffer.concat([...bucket.objects.values()]);
    expect(objects.length).toBeGreaterThan(3_000_000);
    expect(objects.includes(hidden)).toBe(false);
    const schema = new URL(store).searchParams.get("schema") ?? "";
    const { rows } = await database.query(
      `SELECT count(*) AS entries, count(*) FILTER (WHERE position('${hidden}'::bytea IN value) > 0)
         AS found FROM ${schema}.entry`,
    );
    expect(Number(rows[0].entries)).toBeGreaterThan(50);
    expect(Number(rows[0].found)).toBe(0);
    await expect(startNode("three", {})).rejects.toThrow("the data is encrypted");
  });
});

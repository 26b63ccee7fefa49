import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { blobs, blocks, generations } from "../../src/blob/records.ts";
import type { ContentRef, Slice } from "../../src/content/content-ref.ts";
import { openDataStores, type DataStores } from "../../src/data/data-stores.ts";
import { realEnvironment } from "../../src/host/world.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { silentLog } from "../harness/silent-log.ts";
import { accountSas, rawClient, type RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { hidden, planted } from "./plant.ts";

const folder = temporaryFolder();
const encryption = `file:${join(folder, "master.key")}`;
const location = join(folder, "data");
const lengths = { small: 100, middle: 5000, large: 3_000_000 } as const;
const block = { "x-ms-blob-type": "BlockBlob" };
const scopeHeader = "x-ms-encryption-scope";

beforeAll(() => writeFileSync(join(folder, "master.key"), randomBytes(32).toString("base64")));

async function put(
  client: RawClient,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<void> {
  const { status, body: answer } = await client.send({ method: "PUT", path, headers, body });
  if (status >= 300) throw new Error(`${path}: ${status} ${answer.toString()}`);
}

/** Writes content of all kinds in the container, with `scope` in each request that stores bytes. */
async function fill(client: RawClient, at: string, scope: Readonly<Record<string, string>>) {
  for (const [name, length] of Object.entries(lengths)) {
    await put(client, `${at}/${name}`, { ...block, ...scope }, planted(length));
  }
  await put(client, `${at}/large?comp=snapshot`, scope);
  await put(client, `${at}/blocks?comp=block&blockid=YQ%3D%3D`, scope, planted(200));
  await put(client, `${at}/blocks?comp=block&blockid=Yg%3D%3D`, scope, planted(70_000));
  const list = "<BlockList><Latest>YQ==</Latest><Latest>Yg==</Latest></BlockList>";
  await put(client, `${at}/blocks?comp=blocklist`, scope, list);
  await put(client, `${at}/staged?comp=block&blockid=YQ%3D%3D`, scope, planted(300));
  await put(client, `${at}/appended`, { "x-ms-blob-type": "AppendBlob", ...scope });
  for (let count = 0; count < 20; count += 1) {
    await put(client, `${at}/appended?comp=appendblock`, scope, planted(300));
  }
  const pages = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "8192" };
  await put(client, `${at}/pages`, { ...pages, ...scope });
  const range = { "x-ms-page-write": "update", "x-ms-range": "bytes=1024-1535" };
  await put(client, `${at}/pages?comp=page`, { ...range, ...scope }, planted(512));
}

const names = [...Object.keys(lengths), "blocks", "appended", "pages"];

async function textOf(client: RawClient, path: string): Promise<string> {
  const { status, body } = await client.send({ method: "GET", path });
  expect(status, path).toBe(200);
  return body.toString();
}

async function expectReadable({ urls }: EtagereServer, paths: readonly string[]): Promise<void> {
  const client = rawClient(urls.blob ?? "");
  for (const path of paths) expect(await textOf(client, path), path).toContain(hidden);
  expect(await textOf(client, `${paths[0]?.replace(/[^/]*$/, "") ?? ""}large`)).toBe(
    planted(lengths.large),
  );
}

interface StoredContent {
  readonly name: string;
  readonly encryptionScope: string | undefined;
  readonly slices: readonly Slice[];
  /** The bytes below the key of the scope: only the storage is decrypted. */
  readonly text: string;
}

/** All contents of blobs, blocks and generations, as they are stored. */
async function storedContents(): Promise<readonly StoredContent[]> {
  const world = realEnvironment(silentLog);
  const places = { location, storeUrl: undefined, contentUrl: undefined, encryption };
  const stores = await openDataStores({ ...places, memoryBytesMax: undefined, ...world });
  const found: StoredContent[] = [];
  try {
    for (const table of [blobs, blocks, generations]) {
      const records = await stores.store.snapshot(async (view) => {
        const all: { content: ContentRef; encryptionScope?: string | undefined }[] = [];
        for await (const entries of view.range(table.range([]))) {
          for (const { value } of entries) all.push(table.codec.decode(value));
        }
        return all;
      });
      for (const { content, encryptionScope } of records) {
        found.push({ name: table.name, encryptionScope, ...(await rawContent(stores, content)) });
      }
    }
  } finally {
    await stores.close();
  }
  return found;
}

async function rawContent({ store, content }: DataStores, ref: ContentRef) {
  return store.snapshot(async (view) => {
    if (ref.kind === "inline")
      return { slices: [], text: Buffer.from(ref.bytes).toString("latin1") };
    const slices: Slice[] = [];
    for await (const some of content.slices(view, ref, 0, ref.length)) slices.push(...some);
    const plain = slices.map((slice): Slice => {
      const { cipher: _, ...source } = slice.source;
      return { ...slice, source };
    });
    const reader = content.open(view, { kind: "slices", length: ref.length, slices: plain });
    const chunks: Buffer[] = [];
    for await (const chunk of reader.read(0, ref.length)) chunks.push(Buffer.from(chunk));
    reader.close();
    return { slices, text: Buffer.concat(chunks).toString("latin1") };
  });
}

async function completed(client: RawClient, path: string): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const { headers } = await client.send({ method: "HEAD", path });
    if (headers["x-ms-copy-status"] === "success") return;
    expect(headers["x-ms-copy-status"]).toBe("pending");
  }
  throw new Error(`${path}: the copy is not complete`);
}

it("contents of a scope are encrypted with its key, however they were written", async () => {
  const server = await start({ ...freePorts, location, encryption });
  const url = server.urls.blob ?? "";
  const client = rawClient(url);
  await put(client, "/named?restype=container", {});
  await put(client, "/default?restype=container", {
    "x-ms-default-encryption-scope": "by-default",
    "x-ms-deny-encryption-scope-override": "false",
  });
  await put(client, "/plain?restype=container", {});
  await fill(client, "/named", { [scopeHeader]: "by-name" });
  await fill(client, "/default", {});
  await put(client, "/plain/large", block, planted(lengths.large));
  const copies = {
    "/plain/into-scope": ["/plain/large", { [scopeHeader]: "copied" }],
    "/plain/out-of-scope": ["/named/middle", {}],
    "/default/same": ["/default/large", {}],
  } as const;
  for (const [path, [source, headers]] of Object.entries(copies)) {
    await put(client, path, {
      "x-ms-copy-source": `${url}/devstoreaccount1${source}?${accountSas()}`,
      ...headers,
    });
    await completed(client, path);
  }
  await server.stop();

  const stored = await storedContents();
  const scopes = new Set(stored.map(({ encryptionScope }) => encryptionScope));
  expect(scopes).toEqual(new Set(["by-name", "by-default", "copied", undefined]));
  for (const { name, encryptionScope, slices, text } of stored) {
    const used = new Set(slices.map(({ source }) => source.cipher?.scope?.split("/")[1]));
    if (slices.length > 0) expect([...used], name).toEqual([encryptionScope]);
    expect(text.includes(hidden), name).toBe(encryptionScope === undefined && text.length > 0);
  }

  const again = await start({ ...freePorts, location, encryption });
  for (const container of ["/named", "/default"]) {
    await expectReadable(
      again,
      names.map((name) => `${container}/${name}`),
    );
  }
  await expectReadable(again, ["/plain/into-scope", "/plain/out-of-scope", "/plain/large"]);
  const archive = join(folder, "scopes.archive");
  await again.export(archive);
  await again.stop();
  // The load encrypts with the keys of its own store, or not at all.
  for (const [name, more] of Object.entries({ plain: {}, other: { encryption } })) {
    const target = await start({ ...freePorts, location: join(folder, name), ...more });
    await target.load(archive, { replace: true, archiveKey: encryption });
    await expectReadable(
      target,
      names.map((each) => `/named/${each}`),
    );
    await target.stop();
  }
});

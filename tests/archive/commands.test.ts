import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { describe, expect, it } from "vitest";
import { exportCommand } from "../../src/cli/export-command.ts";
import { loadCommand } from "../../src/cli/load-command.ts";
import { start } from "../../src/index.ts";
import { printedText } from "../harness/printed-text.ts";
import { freePorts } from "../harness/server.ts";
import { openDatabase } from "../postgres/database.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const printed = printedText();

async function run(command: "export" | "load", ...words: readonly string[]) {
  printed.text = "";
  const code = await { export: exportCommand, load: loadCommand }[command].run(words);
  return { code, text: printed.text };
}

async function containersOf(connectionString: string): Promise<readonly string[]> {
  const found: string[] = [];
  const service = BlobServiceClient.fromConnectionString(connectionString);
  for await (const { name } of service.listContainers()) found.push(name);
  return found;
}

describe("etagere export and etagere load", () => {
  it("work on running servers in memory", async () => {
    const file = join(folder, "memory.etagere");
    await using source = await start({ port: 0, inMemoryPersistence: true });
    const service = BlobServiceClient.fromConnectionString(source.connectionString);
    const { containerClient } = await service.createContainer("archived");
    // 512 bytes are in the record, 6,000 are not; both are content for users.
    for (const length of [0, 512, 6000]) {
      const blob = containerClient.getBlockBlobClient(`of-${length}`);
      await blob.upload(Buffer.alloc(length, "x"), length);
    }
    const exported = await run("export", "-o", file, "--url", source.adminUrl);
    expect(exported.text).toContain("devstoreaccount1: 4 records, 3 contents with 6.4 KiB\n");
    expect(exported.text).toMatch(/^exporting: \d+%, \d\.\d KiB of \d\.\d KiB, /m);
    expect(exported.code).toBe(0);
    await using target = await start({ port: 0, inMemoryPersistence: true });
    const url = ["--url", target.adminUrl];
    const loaded = await run("load", file, ...url);
    expect(loaded.text).toContain("devstoreaccount1: loaded\n4 records, 3 contents with 6.4 KiB\n");
    expect(loaded.code).toBe(0);
    expect(await containersOf(target.connectionString)).toEqual(["archived"]);
    const again = await run("load", file, ...url);
    expect(again.code).toBe(1);
    expect(again.text).toContain('etagere: account "devstoreaccount1" has data: replace it');
    expect(again.text).toContain("etagere: nothing was loaded\n");
    const replaced = await run("load", file, "--replace", "--json", ...url);
    expect(replaced.text).toContain('"isReplaced":true');
    expect(replaced.text).toContain('"records":4,"contents":3,"contentBytes":6512}');
    expect(replaced.text).toMatch(/^\{"progress":\{"step":"loading",/m);
  });

  it("work on a data folder, whether a server uses it or not", async () => {
    const location = join(folder, "data");
    const [one, two] = [join(folder, "one.etagere"), join(folder, "two.etagere")];
    const server = await start({ ...freePorts, location });
    await BlobServiceClient.fromConnectionString(server.connectionString).createContainer("kept");
    expect((await run("export", "-o", one, "--location", location)).code).toBe(0);
    await server.stop();
    expect((await run("export", "-o", two, "--location", location)).code).toBe(0);
    const other = join(folder, "other");
    const created = await run("load", two, "--location", other, "--as", "moved");
    expect(created.text).toMatch(/^moved: created and loaded\nkey 1: .+\nkey 2: .+\n1 records/m);
    const loaded = await run("load", one, "--location", other);
    expect(loaded.text).toContain("devstoreaccount1: loaded\n");
    await using served = await start({ ...freePorts, location: other });
    expect(await containersOf(served.connectionString)).toEqual(["kept"]);
    const accounts = await run("export", "-o", one, "-l", other, "--account", "moved", "--json");
    expect(accounts.text).toContain('{"accounts":["moved"],"records":1,');
  });

  it("create no folder for an archive that cannot be read", async () => {
    const key = (name: string): string => {
      const file = join(folder, name);
      writeFileSync(file, Buffer.alloc(32, name));
      return `file:${file}`;
    };
    const [good, wrong] = [key("good.key"), key("wrong.key")];
    const archive = join(folder, "encrypted.etagere");
    await using source = await start({ port: 0, inMemoryPersistence: true });
    await BlobServiceClient.fromConnectionString(source.connectionString).createContainer("kept");
    await source.export(archive, { archiveKey: good });
    const cut = join(folder, "cut.etagere");
    writeFileSync(cut, readFileSync(archive).subarray(0, -20));
    const [missing, empty] = [join(folder, "to-create"), join(folder, "empty")];
    mkdirSync(empty);
    for (const words of [
      [archive],
      [archive, "--archiveKey", wrong],
      [archive, "--encryption", wrong],
      [join(folder, "good.key")],
    ]) {
      for (const location of [missing, empty]) {
        const { code } = await run("load", ...words, "--location", location);
        expect({ words, code }).toEqual({ words, code: 1 });
      }
      expect(existsSync(missing)).toBe(false);
      expect(readdirSync(empty)).toEqual([]);
    }
    const loaded = await run("load", archive, "--location", missing, "--encryption", good);
    expect(loaded.code).toBe(0);
    // Data that was there before is kept.
    const again = await run("load", cut, "--location", missing, "--encryption", good, "--replace");
    expect(again.code).toBe(1);
    await using served = await start({ ...freePorts, location: missing, encryption: good });
    expect(await containersOf(served.connectionString)).toEqual(["kept"]);
  });

  it("work on a database that no server uses", async () => {
    const database = await openDatabase();
    try {
      await using source = await start({ port: 0, inMemoryPersistence: true });
      const service = BlobServiceClient.fromConnectionString(source.connectionString);
      await service.createContainer("moved");
      const [file, again] = [join(folder, "db.etagere"), join(folder, "again.etagere")];
      await source.export(file);
      const place = ["--store", database.newUrl(), "--location", join(folder, "contents")];
      const loaded = await run("load", file, ...place);
      expect(loaded.text).toContain("devstoreaccount1: loaded\n1 records");
      const exported = await run("export", "-o", again, ...place);
      expect(exported.text).toContain("devstoreaccount1: 1 records");
    } finally {
      await database.stop();
    }
  });

  it("write no file if the export fails, and otherwise one that only its owner may read", async () => {
    await using server = await start({ port: 0, inMemoryPersistence: true });
    const file = join(folder, "none.etagere");
    const words = ["-o", file, "--url", server.adminUrl];
    const failed = await run("export", ...words, "--account", "nobody1");
    expect(failed.code).toBe(1);
    expect(failed.text).toContain(
      'etagere: no account "nobody1"\netagere: no archive was written\n',
    );
    expect([existsSync(file), existsSync(`${file}.incomplete`)]).toEqual([false, false]);
    for (const keys of [[], ["--withKeys"]]) {
      expect((await run("export", ...words, ...keys)).code).toBe(0);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
    expect((await readFile(file, "latin1")).startsWith("etagere archive 1\n")).toBe(true);
  });

  it("reject wrong words and places", async () => {
    expect((await run("export")).text).toContain("--output is required");
    expect((await run("export", "x", "-o", "y")).text).toContain('unexpected word "x"');
    expect((await run("load")).text).toContain("FILE is required");
    const nowhere = join(folder, "nowhere");
    const missing = await run("export", "-o", join(folder, "x"), "--location", nowhere);
    expect(missing.text).toContain("nowhere: not a data folder, and no server uses it");
    const both = ["--location", folder, "--url", "http://127.0.0.1:1"];
    expect((await run("load", "x", ...both)).text).toContain("--url contradicts --location");
    const gone = await run("export", "-o", join(folder, "x"), "--url", "http://127.0.0.1:1");
    expect(gone.text).toContain("no server responds at http://127.0.0.1:1");
    expect((await run("load", join(folder, "no-file"), "--location", nowhere)).text).toContain(
      "no-file: no such file\netagere: nothing was loaded\n",
    );
    expect(existsSync(nowhere)).toBe(false);
  });

  it("are not available to web pages or with another type of body", async () => {
    await using server = await start({ port: 0, inMemoryPersistence: true });
    const path = `${server.adminUrl}/admin/v1/archive`;
    const headers = { "x-etagere-admin": "1" };
    const page = { ...headers, origin: server.adminUrl };
    expect((await fetch(path, { headers: page })).status).toBe(403);
    expect((await fetch(path, { method: "POST", headers: page, body: "x" })).status).toBe(403);
    expect((await fetch(path, { method: "POST", headers, body: "x" })).status).toBe(415);
    expect((await fetch(`${path}?account=a`, { headers })).status).toBe(400);
    expect((await fetch(path, { method: "DELETE", headers })).status).toBe(405);
  });

  it("say why an archive is rejected, and break no later request", async () => {
    await using server = await start({ port: 0, inMemoryPersistence: true });
    const path = `${server.adminUrl}/admin/v1/archive`;
    const type = "application/vnd.etagere.archive";
    const headers = { "x-etagere-admin": "1", "content-type": type };
    const body = Buffer.alloc(300_000, 7);
    for (let times = 0; times < 10; times += 1) {
      const answer = await fetch(path, { method: "POST", headers, body });
      expect(answer.status).toBe(409);
      expect(await answer.text()).toContain("not an archive of etagere export");
    }
  });
});

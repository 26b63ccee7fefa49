import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startCommand } from "./start-command.ts";

const command = [process.execPath, resolve("bin/etagere")];
const freePorts = ["blob", "queue", "table", "file", "smb", "admin"].map(
  (name) => `--${name}Port=0`,
);
const folder = temporaryFolder();

function run(...words: readonly string[]) {
  const [program = "", ...rest] = [...command, ...words];
  const { status, stdout, stderr } = spawnSync(program, rest, { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("etagere", () => {
  it("prints the lines that other tools wait for and exits with 0 on SIGTERM", async () => {
    const server = await startCommand([...command, ...freePorts], { folder });
    const url = server.urlOf("Blob");
    expect(server.lines).toContain("Azurite Blob service is starting at http://127.0.0.1:0");
    expect(server.lines).toContain(`Azurite Blob service is successfully listening at ${url}`);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect((await fetch(url)).headers.get("connection")).toBe("keep-alive");
    expect((await fetch(`${server.urlOf("admin")}/readyz`)).status).toBe(200);
    expect(await server.end()).toBe(0);
    expect(server.lines).toContain("Azurite Blob service is closing...");
    expect(server.lines.at(-1)).toBe("Azurite Dfs service successfully closed");
  });

  it("prints a link that logs in once, if an account has a secret key", async () => {
    const words = [...command, ...freePorts, "--inMemoryPersistence"];
    const environment = { AZURITE_ACCOUNTS: `one:${Buffer.from("secret").toString("base64")}` };
    const server = await startCommand(words, { folder, environment });
    const admin = server.urlOf("admin");
    await vi.waitFor(() => expect(server.lines.join("\n")).toContain("explorer: open"));
    const printed = server.lines.map((line) => /#login=([0-9a-f]{64})$/.exec(line)?.[1]);
    const link = printed.find((token) => token !== undefined);
    const headers = { "x-etagere-admin": "1", "Content-Type": "application/json" };
    const logIn = () =>
      fetch(`${admin}/admin/v1/session`, {
        method: "POST",
        headers,
        body: JSON.stringify({ link }),
      });
    expect((await fetch(`${admin}/admin/v1/accounts`, { headers })).status).toBe(401);
    expect((await logIn()).status).toBe(200);
    expect((await logIn()).status).toBe(401);
    await server.end();
  });

  it("logs why a request was rejected", async () => {
    const log = join(folder, "debug.log");
    const words = [...command, ...freePorts, "--inMemoryPersistence", "--debug", log];
    const server = await startCommand(words, { folder });
    await fetch(`${server.urlOf("Table")}/devstoreaccount1/Tables`);
    expect(await server.end()).toBe(0);
    const lines = readFileSync(log, "utf8").trim().split("\n");
    const request = lines.find((line) => line.includes("/devstoreaccount1/Tables"));
    expect(JSON.parse(request ?? "{}")).toMatchObject({
      status: 404,
      code: "ResourceNotFound",
      reason: "The specified resource does not exist.",
    });
  });

  it("reloads its accounts on SIGHUP and continues to serve", async () => {
    const config = join(folder, "accounts.json");
    writeFileSync(config, '{ "accounts": { "first": { "keys": ["a2V5"] } } }');
    const words = [...command, ...freePorts, "--inMemoryPersistence", "--config", config];
    const server = await startCommand(words, { folder });
    writeFileSync(config, "{ broken");
    server.child.kill("SIGHUP");
    const line = await new Promise<string>((logged) => {
      server.child.stderr?.once("data", (chunk: Buffer) => logged(chunk.toString()));
      server.child.once("exit", () => logged("the server ended"));
    });
    expect(line).toContain("account settings not reloaded");
    expect((await fetch(`${server.urlOf("admin")}/readyz`)).status).toBe(200);
    expect(await server.end("SIGINT")).toBe(0);
  });

  it("takes a signal that arrives twice, as from a terminal and from npm, as one", async () => {
    const words = [...command, ...freePorts, "--inMemoryPersistence"];
    const server = await startCommand(words, { folder });
    server.child.kill("SIGINT");
    expect(await server.end("SIGTERM")).toBe(0);
  });

  it("reports every invalid flag, one per line", () => {
    const { status, stdout, stderr } = run("--blobPort", "http", "--nonsense", "--key", "a");
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr.trimEnd().split("\n")).toEqual([
      "etagere: --nonsense: no such option; --help lists all",
      'etagere: --blobPort: must be a port, 0 to 65535, not "http"',
      "etagere: --key: needs --cert",
    ]);
  });

  it("warns that bearer tokens need a certificate, and starts", async () => {
    const words = [...command, ...freePorts, "--inMemoryPersistence", "--oauth", "basic"];
    const server = await startCommand(words, { folder });
    expect(await server.end()).toBe(0);
    expect(server.errors()).toMatch(/^etagere: --oauth: without --cert and --key every bearer/);
  });

  it.each([
    ["bakup", "etagere: bakup: no such command; did you mean backup?\n"],
    ["blobs", "etagere: blobs: no such command; did you mean blob?\n"],
    ["nothing", "etagere: nothing: no such command; commands: check, backup, copy, import, export"],
  ])("reports the unknown command %s", (word, message) => {
    const { status, stdout, stderr } = run(word, "--help");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(message);
  });

  // The spellings of a request for help do not depend on the command.
  it.each([
    ["check", "--help"],
    ["backup", "--help"],
    ["copy", "word", "-h"],
    ["import", "--help"],
    ["help", "status"],
    ["tour", "--help"],
  ])("prints the help of %s %s", (...words) => {
    const name = words[0] === "help" ? words[1] : words[0];
    const { status, stdout, stderr } = run(...words);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^usage: etagere ${name}\\b[^]*^example: `, "m"));
  });

  // Node itself needs about 25, a server that listens about 40.
  it.skipIf(process.platform === "win32").each([
    [28, "1"],
    [32, "1"],
    [44, "1"],
    [32, "2"],
  ])("reports a limit of %i open files, with --workers %s", (limit, workers) => {
    const limited = `ulimit -n ${limit} && exec "$0" "$@"`;
    const words = ["-c", limited, ...command, ...freePorts, "--workers", workers];
    const options = { cwd: folder, encoding: "utf8", timeout: 60_000 } as const;
    const { status, stdout, stderr } = spawnSync("sh", words, options);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "etagere: too many open files: the limit on file descriptors is too low; raise it, for " +
        "example with `ulimit -n 4096`\n",
    });
  });

  it("reports the port that is in use", async () => {
    const occupant = createServer();
    await new Promise<void>((listening) => occupant.listen(0, "127.0.0.1", listening));
    const { port } = occupant.address() as AddressInfo;
    const { status, stderr } = run(...freePorts.slice(1), `--blobPort=${port}`);
    expect(status).toBe(1);
    const problem = `port ${port} of 127.0.0.1 is in use (EADDRINUSE)`;
    const advice = "choose another, or 0 for a free one";
    expect(stderr).toBe(`etagere: Blob service: ${problem}; ${advice}\n`);
    await new Promise((closed) => occupant.close(closed));
  });

  it("starts a second time with only the flags that Azurite has", async () => {
    const azurites = ["--blobPort=0", "--queuePort=0", "--tablePort=0", "--inMemoryPersistence"];
    const first = await startCommand([...command, ...azurites], { folder });
    const started = startCommand([...command, ...azurites], { folder });
    await started.catch(() => first.end());
    const second = await started;
    try {
      for (const name of ["File", "SMB", "admin"]) {
        expect(second.urlOf(name)).toMatch(/:\d+$/);
        expect(second.urlOf(name)).not.toBe(first.urlOf(name));
      }
      expect(second.lines).toEqual(
        expect.arrayContaining(
          ["File service", "SMB endpoint", "Admin listener"].map((title) =>
            expect.stringMatching(
              new RegExp(`^Etagere ${title}: port \\d+ of 127.0.0.1 is in use; using a free port`),
            ),
          ),
        ),
      );
      expect((await fetch(`${second.urlOf("admin")}/readyz`)).status).toBe(200);
    } finally {
      await Promise.all([first.end(), second.end()]);
    }
  });

  it.each([
    ["file", ["file"], ["File", "SMB"]],
    ["blob", ["blob"], ["Blob"]],
    ["azurite-queue", [], ["Queue"]],
    ["azurite-table", [], ["Table"]],
  ])("%s starts one service alone", async (name, words, expected) => {
    const link = join(folder, name);
    if (words.length === 0) symlinkSync(resolve("bin/etagere"), link);
    const program = words.length === 0 ? [process.execPath, link] : [...command, ...words];
    const server = await startCommand([...program, ...freePorts, "--inMemoryPersistence"]);
    const listening = ["Blob", "Queue", "Table", "File", "SMB"].filter(
      (title) => server.urlOf(title) !== "",
    );
    expect(listening).toEqual(expected);
    expect((await fetch(`${server.urlOf("admin")}/readyz`)).status).toBe(200);
    expect(await server.end()).toBe(0);
  });

  it("does not print a key if AZURITE_ACCOUNTS is malformed", () => {
    const [program = "", ...rest] = [...command, ...freePorts];
    const { status, stderr } = spawnSync(program, rest, {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, AZURITE_ACCOUNTS: "c2VjcmV0" },
    });
    expect(status).toBe(1);
    expect(stderr).toContain("AZURITE_ACCOUNTS: each account must read name:key1");
    expect(stderr).not.toContain("c2VjcmV0");
  });

  it("prints help and version", () => {
    expect(run("--help")).toMatchObject({ status: 0, stderr: "" });
    expect(run("-v").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run("version")).toEqual(run("--version"));
  });
});

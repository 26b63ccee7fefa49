import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startCommand } from "./start-command.ts";

const folder = temporaryFolder();

const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
const words = [process.execPath, resolve("bin/etagere"), "--inMemoryPersistence", ...ports];
const requestLine = /^127\.0\.0\.1 - - \[.*\] "GET \/absent\/box\?comp=list HTTP\/1\.1" 404 \d+$/;

describe("the access log on the console", () => {
  it("contains one line per request, written before the server exits", async () => {
    const server = await startCommand(words, { folder });
    for (let count = 0; count < 3; count += 1) {
      await (await fetch(`${server.urlOf("Blob")}/absent/box?comp=list`)).text();
    }
    expect(await server.end()).toBe(0);
    expect(server.lines.filter((line) => requestLine.test(line))).toHaveLength(3);
    expect(server.lines.at(-1)).toBe("Azurite Dfs service successfully closed");
  });

  it("is disabled by --silent", async () => {
    const server = await startCommand([...words, "--silent"], { folder });
    await (await fetch(`${server.urlOf("Blob")}/absent/box?comp=list`)).text();
    expect(await server.end()).toBe(0);
    expect(server.lines.filter((line) => line.includes("/absent/"))).toEqual([]);
    expect(server.lines.at(-1)).toBe("Azurite Dfs service successfully closed");
  });

  it("drops lines and delays no request if the console is not read", async () => {
    const server = await startCommand(words, { folder });
    const { stdout } = server.child;
    stdout?.pause();
    // Longer in total than the buffer of the log (1 MiB), of the pipe, and of this process.
    const url = `${server.urlOf("Blob")}/absent?comp=list&prefix=${"long".repeat(4000)}`;
    for (let count = 0; count < 200; count += 1) expect((await fetch(url)).status).toBe(404);
    stdout?.resume();
    const dropped = /Etagere access log: \d+ lines dropped, the console is slower/;
    const poll = `${server.urlOf("Blob")}/absent/box?comp=list`;
    for (let count = 0; count < 1000; count += 1) {
      if (server.lines.some((line) => dropped.test(line))) break;
      await fetch(poll);
    }
    expect(server.lines.some((line) => dropped.test(line))).toBe(true);
    expect(await server.end()).toBe(0);
  });
});

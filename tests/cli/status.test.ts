import { spawn, spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startCommand } from "./start-command.ts";

const command = [process.execPath, resolve("bin/etagere")];
const freePorts = ["blob", "queue", "table", "file", "smb", "admin"].map(
  (name) => `--${name}Port=0`,
);
const folder = temporaryFolder();

function status(...words: readonly string[]) {
  const [program = "", ...rest] = [...command, "status", ...words];
  return spawnSync(program, rest, { cwd: folder, encoding: "utf8" });
}

it("shows the server that uses a folder, or that there is none", async () => {
  const server = await startCommand([...command, ...freePorts], { folder });
  const shown = status();
  expect(shown.stdout).toContain(`at ${server.urlOf("admin")}`);
  expect(shown.stdout).toContain("Leases: none");
  expect(shown.status).toBe(0);
  const printed = JSON.parse(
    status("--location", join(folder, ".etagere"), "--json").stdout,
  ) as object;
  expect(printed).toMatchObject({ url: server.urlOf("admin"), leases: { leases: [] } });
  for (const test of ["--ready", "--alive"]) {
    expect(status(test)).toMatchObject({ status: 0, stdout: "", stderr: "" });
  }
  expect(await server.end()).toBe(0);
  expect(status("--ready", "--url", server.urlOf("admin")).status).toBe(1);
  const none = status("--location", join(folder, ".etagere"));
  expect(none.stderr).toContain("no server uses");
  expect(none.status).toBe(1);
  expect(status("--nonsense").stderr).toContain("usage: etagere status");
});

it("ends without an error when the reader of its output closes the pipe", async () => {
  const server = await startCommand([...command, ...freePorts], { folder });
  const words = [...command.slice(1), "status", "--watch"];
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise((settle) => child.once("close", settle));
  await new Promise((settle) => child.stdout.once("data", settle));
  child.stdout.destroy();
  expect(await ended).toBe(0);
  expect(errors).toBe("");
  await server.end();
});

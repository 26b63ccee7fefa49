import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { principalCommand } from "../../src/cli/principal-command.ts";
import { start } from "../../src/index.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const location = join(folder, "data");

afterEach(() => vi.restoreAllMocks());

/** The exit code and what the command prints. */
async function run(...words: readonly string[]): Promise<readonly [number, string]> {
  let printed = "";
  const write = (text: string | Uint8Array): boolean => {
    printed += String(text);
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(write);
  vi.spyOn(process.stderr, "write").mockImplementation(write);
  const code = await principalCommand.run([...words, "--location", location]);
  vi.restoreAllMocks();
  return [code, printed];
}

it("creates, changes, assigns, lists and deletes", async () => {
  const identity = { principals: { configured: { objectId: "o1" } } };
  await using server = await start({ port: 0, location, identity });
  expect(server.adminUrl).not.toBe("");
  const [, created] = await run("create", "Report reader");
  expect(created).toMatch(
    /^Report reader: created\nobject id: \S{36}\nclient id: \S{36}\nsecret: \S{43}\n$/,
  );
  const secretFile = join(folder, "secret");
  writeFileSync(secretFile, "a-secret-of-a-file\n");
  expect(await run("change", "Report reader", "--secretFile", secretFile)).toEqual([
    0,
    expect.stringContaining("secret: a-secret-of-a-file\n"),
  ]);
  const role = "storage blob data reader";
  const [, assigned] = await run("assign", "Report reader", role, "--container", "box");
  const [, id = ""] = /assigned \((\w{32})\)/.exec(assigned) ?? [];
  const [, listed] = await run("list");
  expect(listed).toMatch(/^configured +configured o1$/m);
  expect(listed).toMatch(/^Report reader +stored {5}\S{36}$/m);
  expect(listed).toContain(`Storage Blob Data Reader in */blob/box (${id})`);
  expect(await run("unassign", id)).toEqual([0, `${id}: deleted\n`]);
  expect(await run("delete", "Report reader")).toEqual([0, "Report reader: deleted\n"]);
  const [code, refused] = await run("delete", "configured");
  expect([code, refused]).toEqual([1, expect.stringContaining("is configured")]);
});

it("names what is wrong", async () => {
  await using server = await start({ port: 0, location });
  expect(server.adminUrl).not.toBe("");
  expect(await run("assign", "none", "Storage Blob Data Reader")).toEqual([
    1,
    expect.stringContaining('there is no principal "none"'),
  ]);
  expect((await run("create"))[0]).toBe(1);
});

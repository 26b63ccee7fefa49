import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { backupFolder } from "../../src/commands/folder-backup.ts";
import { copyData } from "../../src/commands/copy-data.ts";
import { openDataLocation } from "../../src/data/data-locations.ts";
import { readMasterKey } from "../../src/host/master-key.ts";
import { realClock, realRandom } from "../../src/host/world.ts";
import { start } from "../../src/index.ts";
import { encryptionCommand } from "../../src/cli/encryption-command.ts";
import { exportCommand } from "../../src/cli/export-command.ts";
import { loadCommand } from "../../src/cli/load-command.ts";
import { freePorts } from "../harness/server.ts";
import { printedText } from "../harness/printed-text.ts";
import { silentLog } from "../harness/silent-log.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { fill } from "../folder/fill.ts";
import { lookAtFilled } from "../folder/filled.ts";

const folder = temporaryFolder();
const printed = printedText();
const location = join(folder, "data");
const keyFile = join(folder, "master.key");
const encryption = `file:${keyFile}`;
const world = { clock: realClock(), random: realRandom(), log: silentLog };
let filled: object;

beforeAll(async () => {
  expect(await encryptionCommand.run(["new-key", keyFile])).toBe(0);
  const server = await start({ ...freePorts, location, encryption });
  await fill(server.urls, "one");
  filled = await lookAtFilled(server.urls, "one");
  await server.stop();
});

async function lookAt(at: string, key = encryption): Promise<object> {
  await using server = await start({ ...freePorts, location: at, encryption: key });
  return await lookAtFilled(server.urls, "one");
}

const problemsIn = async (at: string) => {
  const master = await readMasterKey(encryption);
  return (await checkFolder({ location: at, clock: world.clock, log: silentLog, master })).problems;
};

describe("commands on encrypted data", () => {
  it("creates master keys that only their owner reads, and replaces none", async () => {
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    printed.text = "";
    expect(await encryptionCommand.run(["new-key", keyFile])).toBe(1);
    expect(printed.text).toMatch(/^etagere: .+master\.key: exists, .+; choose another name\n$/);
    expect(await encryptionCommand.run(["status", "--location", location])).toBe(1);
  });

  it("checks it with the master key, and finds what was changed", async () => {
    expect(await problemsIn(location)).toEqual([]);
    const without = checkFolder({ location, clock: world.clock, log: silentLog });
    await expect(without).rejects.toThrow("the data is encrypted");
    const copy = join(folder, "damaged");
    cpSync(location, copy, { recursive: true });
    for (const name of readdirSync(join(copy, "extents"))) {
      const path = join(copy, "extents", name);
      const bytes = readFileSync(path);
      bytes.fill(1, 100, 200);
      if (name !== "spare") writeFileSync(path, bytes);
    }
    expect((await problemsIn(copy)).join()).toContain("encrypted content is not authentic");
  });

  it("backs it up without the master key; the backup has the same key", async () => {
    const to = join(folder, "backup");
    await backupFolder({ location, to, clock: world.clock, log: silentLog });
    expect(await problemsIn(to)).toEqual([]);
    expect(await lookAt(to)).toEqual(filled);
  });

  it("copies it to an encrypted location with the same keys", async () => {
    const from = await openDataLocation({ records: location, bytes: undefined, encryption }, world);
    const records = join(folder, "copy");
    const place = { records, bytes: undefined, encryption };
    const to = await openDataLocation(place, world, from.dataKeys);
    const progress = { begin: () => {}, add: () => {} };
    await copyData({ from, to, fromName: "data", random: world.random, progress });
    await to.close();
    await from.close();
    expect(await problemsIn(records)).toEqual([]);
    expect(await lookAt(records)).toEqual(filled);
  });

  it("exports it encrypted, and loads the archive into another encrypted folder", async () => {
    const archive = join(folder, "archive");
    const to = join(folder, "loaded");
    const options = ["--encryption", encryption];
    expect(await exportCommand.run(["-o", archive, "--location", location, ...options])).toBe(0);
    expect(readFileSync(archive, "latin1")).toMatch(/^etagere encrypted archive 1\n/);
    expect(await loadCommand.run([archive, "--location", to, ...options])).toBe(0);
    expect(await problemsIn(to)).toEqual([]);
    await using server = await start({ ...freePorts, location: to, encryption });
    expect(Object.keys(await lookAtFilled(server.urls, "one"))).toEqual(Object.keys(filled));
  });

  it("exports it from a running server only with a key for the archive, or as plain text", async () => {
    const archive = join(folder, "running.archive");
    const otherFile = join(folder, "archive.key");
    await encryptionCommand.run(["new-key", otherFile]);
    await using server = await start({ ...freePorts, location, encryption });
    const running = ["-o", archive, "--location", location];
    printed.text = "";
    expect(await exportCommand.run(running)).toBe(1);
    expect(printed.text).toContain("the data is encrypted: give a master key for the archive");
    expect(existsSync(archive)).toBe(false);

    expect(await exportCommand.run([...running, "--archiveKey", `file:${otherFile}`])).toBe(0);
    expect(readFileSync(archive, "latin1")).toMatch(/^etagere encrypted archive 1\n/);
    const plain = join(folder, "without");
    const into = [archive, "--location", plain];
    printed.text = "";
    expect(await loadCommand.run(into)).toBe(1);
    expect(printed.text).toContain("the archive is encrypted: give its master key");
    printed.text = "";
    expect(await loadCommand.run([...into, "--archiveKey", encryption])).toBe(1);
    expect(printed.text).toContain("--archiveKey: this is not the master key");
    expect(await loadCommand.run([...into, "--archiveKey", `file:${otherFile}`])).toBe(0);

    expect(await exportCommand.run([...running, "--plain"])).toBe(0);
    expect(readFileSync(archive, "latin1")).toMatch(/^etagere archive 1\n/);
    await server.export(archive);
    expect(readFileSync(archive, "latin1")).toMatch(/^etagere encrypted archive 1\n/);
    await server.load(archive, { replace: true });
    expect(Object.keys(await lookAtFilled(server.urls, "one"))).toEqual(Object.keys(filled));
  });

  it("changes the master key and adds data keys while a server uses it", async () => {
    const nextFile = join(folder, "next.key");
    const next = `file:${nextFile}`;
    const at = ["--location", location, "--encryption", encryption];
    await encryptionCommand.run(["new-key", nextFile]);
    const server = await start({ ...freePorts, location, encryption });
    expect(await encryptionCommand.run(["add-data-key", ...at])).toBe(0);
    expect(await encryptionCommand.run(["rotate", next, ...at])).toBe(0);
    expect(await lookAtFilled(server.urls, "one")).toEqual(filled);
    await server.stop();
    await expect(start({ ...freePorts, location, encryption })).rejects.toThrow(
      "not the master key of the data",
    );
    expect(await lookAt(location, next)).toEqual(filled);
    expect(await encryptionCommand.run(["status", ...at])).toBe(1);
    printed.text = "";
    const after = ["--location", location, "--encryption", next];
    expect(await encryptionCommand.run(["status", ...after, "--json"])).toBe(0);
    const { dataKeys } = JSON.parse(printed.text) as { dataKeys: readonly { id: number }[] };
    expect(dataKeys.map(({ id }) => id)).toEqual([1, 2]);
    expect(await encryptionCommand.run(["rotate", encryption, ...after])).toBe(0);
  });
});

describe("the master key", () => {
  const key = Buffer.alloc(32, 7);
  it.each(["base64", "hex"] as const)(
    "is read from a file, a variable or a command as %s",
    async (form) => {
      const file = join(folder, `key.${form}`);
      writeFileSync(file, `${key.toString(form)}\n`);
      process.env["ETAGERE_TEST_MASTER"] = key.toString(form);
      for (const source of [`file:${file}`, "env:ETAGERE_TEST_MASTER", `command:cat ${file}`]) {
        expect(Buffer.from(await readMasterKey(source)), source).toEqual(key);
      }
    },
  );

  it.each([
    ["file:/none", "cannot read /none"],
    ["env:ETAGERE_TEST_NONE", "the variable ETAGERE_TEST_NONE is not set"],
    ["command:echo secret; exit 3", "the command failed with code 3"],
    ["command:echo no access >&2; exit 3", "the command failed with code 3: no access"],
    ["command:kill -TERM $$", "the command was ended by SIGTERM"],
    ["command:yes", "the command printed more than 1024 bytes"],
    ["command:echo short", "does not contain 32 bytes"],
  ])("%s is refused with the reason", async (source, reason) => {
    await expect(readMasterKey(source)).rejects.toThrow(reason);
    const at = join(folder, "never");
    await expect(start({ ...freePorts, location: at, encryption: source })).rejects.toThrow(reason);
    await expect(readMasterKey(source)).rejects.not.toThrow("secret");
  });

  it("of a command that hangs is refused, with the end of its error output", async () => {
    let expire: (() => void) | undefined;
    const clock = { after: (_: number, run: () => void) => ((expire = run), () => {}) };
    // The shell waits for a program of its own, which survives it.
    const marker = join(folder, "has-printed");
    const print = "printf 'x%600s%s\\033[31m' ' ' asking >&2";
    const command = `${print}; touch ${marker}; sleep 60; true`;
    const reading = readMasterKey(`command:${command}`, "--encryption", clock);
    const refusal = reading.catch((error: unknown) => String(error));
    await expect.poll(() => existsSync(marker)).toBe(true);
    expire?.();
    expect(await refusal).toMatch(/did not end within 30 s: asking \[31m$/);
  });
});

import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { ticksPerSecond } from "../../src/base/ticks.ts";
import { doctorCommand } from "../../src/cli/doctor-command.ts";
import {
  checkClock,
  checkFolder,
  checkOpenFiles,
  type Finding,
} from "../../src/cli/doctor/check-machine.ts";
import { checkCertificate, checkNode } from "../../src/cli/doctor/check-server.ts";
import { realClock } from "../../src/host/world.ts";
import { start } from "../../src/index.ts";
import { resolveOptions } from "../../src/server/options.ts";
import { freePorts } from "../harness/server.ts";
import { openFakeS3 } from "../harness/fake-s3.ts";
import { printedText } from "../harness/printed-text.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { openDatabase } from "../postgres/database.ts";

const folder = temporaryFolder();
const printed = printedText();
const anyPorts = ["blob", "queue", "table", "file", "dfs", "smb", "admin"].flatMap((name) => [
  `--${name}Port`,
  "0",
]);

/** What the command finds; the last given option wins. */
async function examine(...words: readonly string[]): Promise<{
  readonly code: number;
  readonly checks: readonly Finding[];
  readonly of: (subject: string) => Finding | undefined;
}> {
  printed.text = "";
  const code = await doctorCommand.run([...words, "--json"]);
  const { checks } = JSON.parse(printed.text) as { readonly checks: readonly Finding[] };
  return { code, checks, of: (subject) => checks.find((each) => each.subject === subject) };
}

describe("etagere doctor", () => {
  it("finds nothing to do for a new folder, and changes nothing", async () => {
    const location = join(folder, "new");
    const { code, checks } = await examine("--location", location, ...anyPorts);
    expect(checks.filter(({ state }) => state === "problem")).toEqual([]);
    expect(code).toBe(0);
    expect(checks.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(["Node.js", "server", "disk", "clock"]),
    );
    printed.text = "";
    expect(await doctorCommand.run(["--location", location, ...anyPorts])).toBe(0);
    expect(printed.text).toMatch(/^ok {6}Node\.js: \d+/);
    expect(printed.text).toMatch(/0 problems, \d+ warnings\n$/);
  });

  it("says which option chooses another port than one in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const words = anyPorts.map((word, index) =>
      anyPorts[index - 1] === "--tablePort" ? String(port) : word,
    );
    const { code, of } = await examine("--location", join(folder, "new"), ...words);
    other.close();
    expect(code).toBe(1);
    const finding = of(`port ${port}`);
    expect(finding).toMatchObject({ state: "problem", text: "in use at 127.0.0.1" });
    expect(finding?.advice).toContain("--tablePort");
  });

  it("knows the running server of a folder and the versions of its clients", async () => {
    const location = join(folder, "served");
    await using server = await start({ ...freePorts, location });
    const headers = { "user-agent": "test-client/1.2", "x-ms-version": "2099-01-01" };
    await fetch(`${server.urls.blob}/devstoreaccount1?comp=list`, { headers });
    const { port } = new URL(server.urls.blob ?? "");
    const words = ["--location", location, ...anyPorts.slice(2), "--blobPort", port];
    const { code, of } = await examine(...words);
    expect(code).toBe(0);
    expect(of("server")?.text).toContain(server.adminUrl);
    expect(of(`port ${port}`)).toMatchObject({ state: "ok" });
    expect(of("client")).toMatchObject({ state: "warning" });
    expect(of("client")?.text).toContain("test-client/1.2, x-ms-version 2099-01-01");
    expect(of("client")?.advice).toContain("update Etagere");
  });

  it("tells a missing, a wrong and the right master key apart", async () => {
    const location = join(folder, "encrypted");
    const key = (name: string): string => {
      const path = join(folder, name);
      writeFileSync(path, createHash("sha256").update(name).digest("hex"));
      return `file:${path}`;
    };
    await (await start({ ...freePorts, location, encryption: key("right") })).stop();
    const words = ["--location", location, ...anyPorts];
    const missing = await examine(...words);
    expect(missing.code).toBe(1);
    expect(missing.of("encryption")?.text).toContain("the data is encrypted");
    const wrong = await examine(...words, "--encryption", key("wrong"));
    expect(wrong.of("encryption")?.text).toContain("not the master key");
    const right = await examine(...words, "--encryption", key("right"));
    expect(right.of("encryption")).toEqual({
      subject: "encryption",
      state: "ok",
      text: "the master key opens 1 data key",
    });
  });

  it("takes all options of the server, and checks accounts, files with secrets and targets", async () => {
    const write = (name: string, text: string, mode: number): string => {
      const path = join(folder, name);
      writeFileSync(path, text, { mode });
      return path;
    };
    const own = write("accounts.json", '{ "accounts": { "mine": { "keys": ["KEY1"] } } }', 0o600);
    const others = write("token", "0123456789abcdef", 0o644);
    const words = ["--location", join(folder, "new"), ...anyPorts];
    const flagsOfServer = [
      "--workers",
      "2",
      "--silent",
      "--eventLogDays",
      "3",
      "--oauth",
      "verify",
    ];
    const sound = await examine(...words, ...flagsOfServer, "--config", own);
    expect(sound.code).toBe(0);
    expect(sound.of("accounts")).toMatchObject({ state: "ok", text: "1 configured" });
    expect(sound.of("files")).toBe(undefined);
    const weak = sound.checks.filter(({ state, subject }) => {
      return state === "warning" && subject === "accounts";
    });
    expect(weak).toMatchObject([{ text: expect.stringMatching(/^mine: account keys/) as string }]);
    const readable = await examine(...words, "--adminTokenFile", others);
    expect(readable.of("files")?.text).toMatch(/token: other users of this machine can read/);
    const broken = write("broken.json", '{ "accounts": }', 0o600);
    const wrong = await examine(...words, "--config", broken);
    expect(wrong.code).toBe(1);
    expect(wrong.of("accounts")?.text).toContain("is not valid JSON");
    expect(await doctorCommand.run([...words, "--workers", "many"])).toBe(2);
  });

  it("finds receivers of audit lines and traces that accept no connection", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const words = ["--location", join(folder, "new"), ...anyPorts];
    const targets = (syslog: string, webhook: string, otlp: string) =>
      examine(...words, "--auditSyslog", syslog, "--auditWebhook", webhook, "--otlp", otlp);
    const open = await targets(`tcp://${at}`, `http://${at}/audit`, `http://${at}`);
    expect(open.code).toBe(0);
    expect(open.of("--auditWebhook")?.text).toBe(`http://${at} accepts connections`);
    const mute = await targets(`tls://${at}`, `http://${at}`, `http://${at}`);
    expect(mute.of("--auditSyslog")?.text).toBe(`tls://${at}: no connection within 3 s`);
    silent.close();
    const closed = await targets(`udp://${at}`, `http://user:secret@${at}/`, `http://${at}`);
    expect(closed.code).toBe(1);
    expect(closed.of("--auditSyslog")).toMatchObject({ state: "ok" });
    expect(closed.of("--otlp")).toMatchObject({ state: "warning" });
    expect(closed.of("--auditWebhook")).toMatchObject({ state: "problem" });
    expect(closed.of("--auditWebhook")?.text).toMatch(/ECONNREFUSED/);
    expect(JSON.stringify(closed.checks)).not.toContain("secret");
  });

  it("refuses a file as data folder, and says how to write to a read-only file system", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    for (const location of [file, join(file, "below")]) {
      const found = await examine("--location", location, ...anyPorts);
      expect(found.code).toBe(1);
      expect(found.of("data folder")?.text).toBe(`${file} is not a folder`);
    }
    const refuse = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
    const [readOnly] = await checkFolder(folder, refuse("EROFS"));
    expect(readOnly?.advice).toContain("mount -o remount,rw");
    const [denied] = await checkFolder(folder, refuse("EACCES"));
    expect(denied?.advice).toContain("chown -R");
  });

  it("refuses options as the server does", async () => {
    expect(await doctorCommand.run(["--encryption", "somewhere"])).toBe(2);
    expect(printed.text).toContain("must be file:PATH, env:NAME or command:COMMAND");
  });
});

describe("etagere doctor with a database and a bucket", () => {
  afterAll(() => vi.unstubAllEnvs());

  it("connects to both, compares the clock, and says what to check if they are away", async () => {
    const [database, bucket] = await Promise.all([openDatabase(), openFakeS3()]);
    vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
    const words = ["--location", join(folder, "node"), ...anyPorts];
    const places = ["--store", database.newUrl(), "--content", bucket.location];
    const { code, of } = await examine(...words, ...places);
    expect(of("database")?.text).toMatch(/^PostgreSQL \d+/);
    expect(of("bucket")).toMatchObject({ state: "ok" });
    expect(of("clock")?.text).toBe("agrees with that of the database");
    expect(code).toBe(0);
    await Promise.all([database.stop(), bucket.close()]);
    const away = await examine(...words, ...places);
    expect(away.code).toBe(1);
    expect(away.of("database")).toMatchObject({ state: "problem" });
    expect(away.of("database")?.advice).toContain("pg_hba.conf");
    expect(away.of("bucket")?.advice).toContain("AWS_ACCESS_KEY_ID");
  });
});

describe("the checks of the machine", () => {
  it("warn of a low limit on open files", async () => {
    const limits = (soft: string) => async () =>
      `Max open files            ${soft}   4096  files\n`;
    expect(await checkOpenFiles(limits("1024"))).toMatchObject([{ state: "warning" }]);
    expect(await checkOpenFiles(limits("65536"))).toMatchObject([{ state: "ok" }]);
    expect(await checkOpenFiles(async () => undefined)).toEqual([]);
  });

  it("find a clock that is wrong", () => {
    const clock = realClock();
    const behind = new Map([["the database", clock.wall() + 60n * ticksPerSecond]]);
    const [finding] = checkClock(clock, behind);
    expect(finding).toMatchObject({ state: "problem" });
    expect(finding?.text).toMatch(/^(59|60) s behind that of the database/);
  });

  it("know which Node.js is enough", () => {
    expect(["20.18.9", "20.19.0", "24.1.0"].map((each) => checkNode(each).state)).toEqual([
      "problem",
      "ok",
      "ok",
    ]);
  });

  it("find a certificate that is missing, and one that expires", async () => {
    const optionsOf = (input: object) => {
      const checked = resolveOptions(input);
      if (!checked.ok) throw new Error(checked.problems.join());
      return checked.value;
    };
    const location = join(folder, "https");
    const missing = optionsOf({ cert: join(folder, "none.pem"), key: join(folder, "none.pem") });
    expect(await checkCertificate(missing, location, realClock())).toMatchObject([
      { state: "problem" },
    ]);
    await (await start({ ...freePorts, location, https: true })).stop();
    const https = optionsOf({ https: true });
    const stateAfter = async (days: bigint) => {
      const clock = realClock();
      const later = { ...clock, wall: () => clock.wall() + days * 86_400n * ticksPerSecond };
      return (await checkCertificate(https, location, later)).map(({ state }) => state);
    };
    expect(await stateAfter(0n)).toEqual(["ok"]);
    expect(await stateAfter(10_000n)).toEqual(["problem"]);
  });
});

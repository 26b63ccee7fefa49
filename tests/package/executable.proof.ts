import { execFile, execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { startCommand, type StartedCommand } from "../cli/start-command.ts";
import { rawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const output = join(folder, "release");
const platform = `${process.platform}-${process.arch}`;
const ports = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];
const freePorts = ports.map((name) => `--${name}Port=0`);
const startMillisecondsMax = 700;
/** Starts are measured until one is fast enough: other processes only add time. */
const startsMax = 30;
const commandMillisecondsMax = 60_000;
const blockBlob = { "x-ms-blob-type": "BlockBlob" };
let executable = "";

beforeAll(() => {
  const program = `import { writeRelease } from "./scripts/release/release.mjs";
    const executables = ["${platform}"];
    await writeRelease({ output: ${JSON.stringify(output)}, executables, hasPackages: false });`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" });
  const name = readdirSync(output).find((each) => each.includes(platform)) ?? "";
  executable = join(output, name);
}, 300_000);

/** The command in an environment without variables. */
const alone = (...words: readonly string[]): readonly string[] => [
  "env",
  "-i",
  `ETAGERE_CACHE=${join(folder, "cache")}`,
  executable,
  ...words,
];

async function writeAndRead(server: StartedCommand): Promise<readonly number[]> {
  const blob = rawClient(server.urlOf("Blob"));
  // Large enough for the thread that computes checksums.
  const body = "text".repeat(1024 * 1024);
  const container = { method: "PUT", path: "/container?restype=container" };
  const put = { method: "PUT", path: "/container/b", headers: blockBlob, body };
  const answers = [];
  for (const request of [container, put, { method: "GET", path: "/container/b" }]) {
    answers.push((await blob.send(request)).status);
  }
  return answers;
}

function run(...words: readonly string[]) {
  const [program = "", ...rest] = alone(...words);
  return spawnSync(program, rest, { encoding: "utf8", timeout: commandMillisecondsMax });
}

describe("the single executable", () => {
  it("serves, with several workers and with all files of the explorer", async () => {
    const location = join(folder, "data");
    const flags = [...freePorts, "--location", location, "--workers=2"];
    const server = await startCommand(alone(...flags));
    expect(await writeAndRead(server)).toEqual([201, 201, 200]);
    const page = await (await fetch(server.urlOf("admin"))).text();
    const [, script = ""] = /src="\.?\/?([^"]+\.js)"/.exec(page) ?? [];
    expect((await fetch(`${server.urlOf("admin")}/${script}`)).status).toBe(200);
    expect(run("status", "--location", location, "--json").stdout).toContain('"version"');
    expect(run("env", "--location", location).stdout).toContain("IDENTITY_ENDPOINT=");
    expect(server.errors()).toBe("");
    expect(await server.end()).toBe(0);
    const checked = run("check", location);
    expect(checked).toMatchObject({ status: 0, stderr: expect.stringMatching(/^checking: .*\n$/) });
    expect(run("backup", "--from", location, "--to", `${location}-copy`).status).toBe(0);
    expect(run("copy", "--from", location, "--to", `${location}-other`).status).toBe(0);
  });

  it("gives the tour", () => {
    const tour = run("tour");
    expect(tour.stdout).toContain("\nAll steps succeeded.\n");
    expect(tour).toMatchObject({ status: 0, stderr: "" });
  });

  it("imports a folder of Azurite", () => {
    const azurite = join(folder, "azurite");
    mkdirSync(azurite);
    const collections = [{ name: "$QUEUES_COLLECTION$", data: [] }];
    writeFileSync(join(azurite, "__azurite_db_queue__.json"), JSON.stringify({ collections }));
    // The import warns about a folder to which Azurite seems to write.
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const name of readdirSync(azurite)) utimesSync(join(azurite, name), hourAgo, hourAgo);
    const imported = run("import", azurite, "--location", join(folder, "imported"));
    expect(imported.stderr).not.toContain("etagere:");
    expect(imported.status).toBe(0);
  });

  it("has help, a version and clear errors, without extracting files", () => {
    const cache = join(folder, "unused");
    const timeout = commandMillisecondsMax;
    const environment = { encoding: "utf8", timeout, env: { ETAGERE_CACHE: cache } } as const;
    const help = spawnSync(executable, ["--help"], environment);
    expect(help.stdout).toContain("--workers");
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(spawnSync(executable, ["--version"], environment).stdout).toBe(`${version}\n`);
    expect(existsSync(cache)).toBe(false);
    const nowhere = { ...environment, env: { ETAGERE_CACHE: join(executable, "cache") } };
    const failed = spawnSync(executable, ["--inMemoryPersistence", ...freePorts], nowhere);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(/^etagere: no folder for the libraries .*ETAGERE_CACHE/);
  });

  it("serves one service under a name of Azurite", async () => {
    const link = join(folder, "azurite-blob");
    symlinkSync(executable, link);
    const words = alone("--inMemoryPersistence", ...freePorts);
    const server = await startCommand(words.map((word) => (word === executable ? link : word)));
    expect([server.urlOf("Blob") === "", server.urlOf("Queue")]).toEqual([false, ""]);
    expect(await server.end()).toBe(0);
  });

  it("starts several times at once with an empty cache", async () => {
    const environment = { env: { ETAGERE_CACHE: join(folder, "raced") } };
    const words = ["check", join(folder, "data")];
    const starts = Array.from({ length: 6 }, () =>
      promisify(execFile)(executable, words, environment),
    );
    const isPlain = expect.stringMatching(/^checking: .*\n$/) as string;
    for (const { stderr } of await Promise.all(starts)) expect(stderr).toEqual(isPlain);
    expect(readdirSync(join(folder, "raced"))).toHaveLength(1);
  });

  it("is listed in the checksums", () => {
    const lines = readFileSync(join(output, "SHA256SUMS"), "utf8").trim().split("\n");
    // The executable, the bill of materials and the licences.
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const [hash, name = ""] = line.split("  ");
      const bytes = readFileSync(join(output, name));
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(hash);
    }
  });
});

const isRoot = process.platform === "linux" && process.getuid?.() === 0;

describe.skipIf(!isRoot)("in a root folder without Node.js", () => {
  it(`starts within ${startMillisecondsMax} ms`, async () => {
    const root = newRoot();
    const script = 'mount --bind /proc "$0/proc" && exec env -i "$(command -v chroot)" "$0" "$@"';
    const words = [...realTime(), "unshare", "--mount", "sh", "-c", script, root, "/etagere"];
    const flags = [...freePorts, "--location", "/data"];
    const milliseconds: number[] = [];
    const isFast = () => Math.min(...milliseconds) < startMillisecondsMax;
    for (let start = 0; start < startsMax && !isFast(); start += 1) {
      const begun = performance.now();
      const server = await startCommand([...words, ...flags]);
      milliseconds.push(performance.now() - begun);
      if (start === 0) expect(await writeAndRead(server)).toEqual([201, 201, 200]);
      expect(await server.end()).toBe(0);
    }
    console.log(`starts in ms: ${milliseconds.map(Math.round).join(", ")}`);
    expect(Math.min(...milliseconds)).toBeLessThan(startMillisecondsMax);
  });

  /** Other processes of the machine must not count. */
  function realTime(): readonly string[] {
    const words = ["--fifo", "10"];
    return spawnSync("chrt", [...words, "true"]).status === 0 ? ["chrt", ...words] : [];
  }

  /** A folder with the executable and the libraries that it names, and nothing else. */
  function newRoot(): string {
    const root = join(folder, "root");
    for (const name of ["proc", "tmp", "data"]) mkdirSync(join(root, name), { recursive: true });
    const listed = execFileSync("ldd", [executable], { encoding: "utf8" });
    const libraries = [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path);
    for (const path of libraries) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      copyFileSync(path, join(root, path));
    }
    copyFileSync(executable, join(root, "etagere"));
    return root;
  }
});

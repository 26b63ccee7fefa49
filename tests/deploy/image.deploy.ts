import { chownSync, cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, it } from "vitest";
import { azuriteFixture } from "../import/azurite-fixture.ts";
import { allOf, readFromAll, writeToAll } from "./all-services.ts";
import { docker, healthOf, tryDocker, work } from "./docker.ts";
import { until } from "./until.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const image = `etagere:${version}`;
const name = "etagere-test";
const ports = ["10000-10004:10000-10004", "10445:10445"].flatMap((port) => ["-p", port]);
/** Nothing but the volume can be written, and no privilege exists. */
const confined = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
/** What is added to the image of Node.js. */
const addedBytesMax = 60 * 1024 * 1024;

interface Inspected {
  readonly Config: {
    readonly User: string;
    readonly Labels: Readonly<Record<string, string>>;
    readonly Healthcheck: { readonly StartInterval: number };
  };
  readonly Size: number;
}

function run(...words: readonly string[]): void {
  docker("run", "--detach", "--name", name, ...confined, ...ports, ...words);
}

async function untilHealthy(): Promise<void> {
  await until(`${name} is healthy`, () => healthOf(name) === "healthy");
}

beforeAll(() => {
  // The command of the guide; the builder is that of Docker itself.
  docker("buildx", "bake");
});
afterEach(() => {
  tryDocker("rm", "--force", "--volumes", name);
});

it("the image has labels, a user and a health check, and no types of the package", () => {
  const [found] = JSON.parse(docker("image", "inspect", image)) as [Inspected];
  const prefix = "org.opencontainers.image";
  expect(found.Config.User).toBe("node");
  expect(found.Config.Labels).toMatchObject({
    [`${prefix}.title`]: "Etagere",
    [`${prefix}.version`]: version,
    [`${prefix}.licenses`]: "MIT",
  });
  expect(found.Config.Healthcheck.StartInterval).toBe(1e9);
  const base = /^FROM .*?(node:\S+)/m.exec(readFileSync("Dockerfile", "utf8"))?.[1] ?? "";
  const added = found.Size - Number(docker("image", "inspect", "--format={{.Size}}", base));
  console.log(`the image adds ${Math.round(added / 1e6)} MB to ${base}`);
  expect(added).toBeLessThan(addedBytesMax);
  const find = ["find", "/opt/etagere", "-name", "*.d.ts", "-o", "-name", "*.map"];
  expect(docker("run", "--rm", image, ...find)).toBe("");
  const shown = docker("run", "--rm", image, "stat", "-c", "%a %u %g", "/data", "/usr/local/bin");
  expect(shown).toBe("1777 1000 1000\n755 0 0");
  expect(docker("run", "--rm", image, "azurite", "--version")).toBe(version);
});

it("the image serves all clients, and keeps everything over a stop and a kill", async () => {
  const begun = performance.now();
  run("--volume", "etagere-kept:/data", image);
  await untilHealthy();
  console.log(`healthy after ${Math.round(performance.now() - begun)} ms`);
  await writeToAll("127.0.0.1", "first");
  expect(await readFromAll("127.0.0.1", "first")).toEqual(allOf("first"));
  docker("stop", name);
  expect(docker("inspect", "--format", "{{.State.ExitCode}}", name)).toBe("0");
  docker("start", name);
  await untilHealthy();
  await writeToAll("127.0.0.1", "second");
  docker("kill", "--signal=KILL", name);
  docker("start", name);
  await untilHealthy();
  for (const each of ["first", "second"]) {
    expect(await readFromAll("127.0.0.1", each)).toEqual(allOf(each));
  }
  docker("rm", "--force", name);
  docker("volume", "rm", "etagere-kept");
});

it("the command of the guide imports a folder of Azurite into the volume of the image", async () => {
  const folder = join(work, "azurite-data");
  const fixture = await azuriteFixture();
  cpSync(fixture.folder, folder, { recursive: true });
  fixture.remove();
  for (const path of [folder, ...pathsIn(folder)]) chownSync(path, 1000, 1000);
  const guide = readFileSync("docs/guides/migrating-from-azurite.md", "utf8");
  const [, command = ""] = /^docker (run --rm [^`]*)```/m.exec(guide) ?? [];
  const words = command.trim().replaceAll("\\\n", "").split(/\s+/);
  const local = words.map((word) => word.replace(/^"\$PWD\/azurite-data:(.*)"$/, `${folder}:$1`));
  expect(local).toContain(`${folder}:/azurite:ro`);
  expect(docker(...local)).toMatch(/imported [1-9]\d* containers/);
  run("--volume", "etagere:/data", image);
  await untilHealthy();
  // Accounts and certificates are read again (docs/guides/kubernetes.md): the server stays.
  docker("exec", name, "sh", "-c", "kill -HUP 1");
  docker("exec", name, "etagere", "status", "--alive", "--location", "/data");
  docker("rm", "--force", name);
  docker("volume", "rm", "etagere");
});

function pathsIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.map((each) => join(folder, each));
}

it("the image serves as any user, without a name", async () => {
  run("--user", "54321:54321", image);
  await untilHealthy();
  await writeToAll("127.0.0.1", "foreign");
  expect(await readFromAll("127.0.0.1", "foreign")).toEqual(allOf("foreign"));
  expect(docker("exec", name, "id", "-u")).toBe("54321");
});

it("the image is healthy with another port of the admin listener, and in memory", async () => {
  const hosts = ["--adminPort=20010", "--adminHost=0.0.0.0"];
  run(image, "etagere", "--location=/data", ...hosts);
  await untilHealthy();
  docker("rm", "--force", "--volumes", name);
  run(image, "etagere", "--inMemoryPersistence");
  await untilHealthy();
});

it("the image is unhealthy while the server does not respond", async () => {
  run("--health-interval=1s", "--health-retries=2", image);
  await untilHealthy();
  docker("kill", "--signal=STOP", name);
  await until("it is unhealthy", () => healthOf(name) === "unhealthy");
  docker("kill", "--signal=CONT", name);
  await untilHealthy();
});

it("the image says that its user cannot write a folder", async () => {
  const folder = join(work, "root-owned");
  mkdirSync(folder, { mode: 0o755 });
  const words = ["--rm", ...confined, "--volume", `${folder}:/data`, image];
  const { status, output } = tryDocker("run", ...words);
  expect(status).toBe(1);
  expect(output).toContain("/data cannot be used: no permission to read and write");
  chownSync(folder, 1000, 1000);
  run("--volume", `${folder}:/data`, image);
  await untilHealthy();
});

it("the image says that another user has written a volume", async () => {
  run("--volume", "etagere-owned:/data", "--user", "1234", image);
  await untilHealthy();
  docker("rm", "--force", name);
  const { status, output } = tryDocker("run", "--rm", "--volume", "etagere-owned:/data", image);
  expect(status).toBe(1);
  expect(output).toContain("/data cannot be used: no permission to read and write");
  docker("volume", "rm", "etagere-owned");
});

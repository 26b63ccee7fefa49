import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { flagDefaults } from "../../src/server/flags.ts";
import { resolveOptions } from "../../src/server/options.ts";

const docker = readFileSync("Dockerfile", "utf8").replaceAll(/\\\n\s*/g, "");
const ignored = readFileSync(".dockerignore", "utf8").trim().split("\n");
const manifests = readdirSync("deploy/kubernetes").map((name) => join("deploy/kubernetes", name));
const ports = [
  flagDefaults.blobPort,
  flagDefaults.queuePort,
  flagDefaults.tablePort,
  flagDefaults.filePort,
  flagDefaults.dfsPort,
  flagDefaults.smbPort,
];

function linesOf(instruction: string): readonly string[] {
  const found = docker.matchAll(new RegExp(`^${instruction} (.*)$`, "gm"));
  return [...found].map(([, words = ""]) => words);
}

/** What is invalid in a container's command line. */
function problemsOf(words: readonly string[]): readonly string[] {
  const [program, ...flags] = words;
  const parsed = parseCommandLine(flags);
  if (program !== "etagere" || parsed.run !== "serve") return [`runs ${program} ${parsed.run}`];
  const options = resolveOptions(parsed.values);
  return [...parsed.problems, ...(options.ok ? [] : options.problems)];
}

describe("the image", () => {
  it("starts with options that exist", () => {
    const [command = "[]"] = linesOf("CMD");
    expect(problemsOf(JSON.parse(command) as string[])).toEqual([]);
  });

  it("runs without root, has a health check and Azurite's program names", () => {
    expect(linesOf("USER")).toEqual(["node"]);
    expect(linesOf("HEALTHCHECK")[0]).toContain(`127.0.0.1:${flagDefaults.adminPort}/readyz`);
    const names = ["etagere", "azurite", "azurite-blob", "azurite-queue", "azurite-table"];
    expect(linesOf("RUN").join("\n")).toContain(`for name in ${names.join(" ")}; do`);
    expect(linesOf("RUN").join("\n")).toContain('/bin/etagere "/usr/local/bin/$name"');
    expect(linesOf("EXPOSE")).toEqual([ports.join(" ")]);
  });

  it("is built on a supported Node.js, for two architectures", () => {
    const bases = linesOf("FROM").map((words) => /node:(\d+)-/.exec(words)?.[1]);
    expect(bases).toEqual(["24", "24"]);
    const bake = readFileSync("docker-bake.hcl", "utf8");
    expect(bake).toContain('platforms = ["linux/amd64", "linux/arm64"]');
    // Only the last stage may depend on the architecture of the image.
    expect(linesOf("FROM")[0]).toContain("--platform=$BUILDPLATFORM");
    expect(linesOf("RUN").join("\n")).toMatch(/TARGETARCH.* npm ci --omit=dev .*--cpu="\$cpu"/);
  });

  it("stores data as any user without --location", () => {
    expect(linesOf("WORKDIR").at(-1)).toBe("/data");
    expect(linesOf("RUN").join("\n")).toMatch(/install -d [^&]*-m 1777 \/data/);
    expect(docker.lastIndexOf("WORKDIR")).toBeGreaterThan(docker.indexOf("USER node"));
  });

  it("contains only files that exist and are not ignored", () => {
    const sources = linesOf("COPY")
      .filter((words) => !words.startsWith("--from"))
      .flatMap((words) => words.split(" ").slice(0, -1));
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) {
      expect(existsSync(source), source).toBe(true);
      expect(ignored).not.toContain(source);
    }
    const built = [...docker.matchAll(/\/build\/([\w./]+)/g)].map(([, path = ""]) => path);
    expect(built.length).toBeGreaterThan(2);
    const made = new Set(["node_modules", "dist", "ui/dist"]);
    for (const path of built) expect(made.has(path) || existsSync(path), path).toBe(true);
  });
});

describe("manifests", () => {
  const started = ["compose.yaml", ...manifests].filter((path) =>
    /^\s+- etagere$/m.test(readFileSync(path, "utf8")),
  );

  it("exist for one node and for several", () => {
    expect(started).toHaveLength(3);
  });

  it.each(started)("%s uses options that exist", (path) => {
    const text = readFileSync(path, "utf8")
      .replace("$(ETAGERE_STORE)", "postgres://etagere@database/etagere")
      .replace("$(ETAGERE_CONTENT)", "s3://shelves");
    const flags = [...text.matchAll(/^\s+- (--\w+=\S+)$/gm)].map(([, flag = ""]) => flag);
    expect(flags.length).toBeGreaterThan(4);
    expect(problemsOf(["etagere", ...flags])).toEqual([]);
  });

  it.each(started)("%s makes the root file system read-only, and mounts only data", (path) => {
    const text = readFileSync(path, "utf8");
    expect(text).toMatch(/readOnlyRootFilesystem: true|read_only: true/);
    const mounts = [...text.matchAll(/mountPath: (\S+)/g)].map(([, at]) => at);
    expect(new Set([...mounts, "/data"])).toEqual(new Set(["/data"]));
  });

  const withPorts = [...started.filter((path) => path !== "compose.yaml"), "deploy/haproxy.cfg"];

  it.each(withPorts)("%s declares the ports", (path) => {
    const text = readFileSync(path, "utf8");
    expect(ports.filter((port) => !text.includes(String(port)))).toEqual([]);
  });

  it.each(manifests)("%s contains no tabs, and every document has a kind", (path) => {
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("\t");
    for (const document of text.split(/^---$/m)) expect(document).toMatch(/^kind: \w+$/m);
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { flagDefaults } from "../../src/server/flags.ts";
import { resolveOptions } from "../../src/server/options.ts";

const read = (path: string): string => readFileSync(path, "utf8");
const docker = read("Dockerfile").replaceAll(/\\\n\s*/g, "");
const imageStage = docker.slice(docker.lastIndexOf("\nFROM "));
const ignored = read(".dockerignore").trim().split("\n");
const manifests = readdirSync("deploy/kubernetes").map((name) => join("deploy/kubernetes", name));
const guides = [
  "README.md",
  "docs/SCALE.md",
  "docs/guides/ci.md",
  "docs/guides/installing.md",
  "docs/guides/migrating-from-azurite.md",
];
const listeners = ["blob", "queue", "table", "file", "dfs", "smb"] as const;
const ports = listeners.map((name) => flagDefaults[`${name}Port`]);
const { version, repository } = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly repository: { readonly url: string };
};

function linesOf(instruction: string, text = docker): readonly string[] {
  const found = text.matchAll(new RegExp(`^${instruction} (.*)$`, "gm"));
  return [...found].map(([, words = ""]) => words);
}

/** What is invalid in a container's command line. */
function problemsOf(words: readonly string[]): readonly string[] {
  const [program, ...flags] = words;
  const parsed = parseCommandLine(flags);
  if (program !== "etagere" || parsed.run !== "serve") return [`runs ${program} ${parsed.run}`];
  const options = resolveOptions(parsed.values);
  const unreachable = listeners.filter((name) => parsed.values[`${name}Host`] !== "0.0.0.0");
  return [
    ...parsed.problems,
    ...(options.ok ? [] : options.problems),
    ...unreachable.map((name) => `${name} listens on loopback`),
  ];
}

describe("the image", () => {
  it("starts with options that exist", () => {
    const [command = "[]"] = linesOf("CMD");
    expect(problemsOf(JSON.parse(command) as string[])).toEqual([]);
  });

  it("runs without root, has a health check and Azurite's program names", () => {
    expect(linesOf("USER")).toEqual(["node"]);
    const [check = ""] = linesOf("HEALTHCHECK");
    expect(check).toContain("etagere status --ready --location /data");
    expect(check).toContain("--start-interval=1s");
    const names = ["etagere", "azurite", "azurite-blob", "azurite-queue", "azurite-table"];
    expect(linesOf("RUN").join("\n")).toContain(`for name in ${names.join(" ")}; do`);
    expect(linesOf("RUN").join("\n")).toContain('/bin/etagere "/image/usr/local/bin/$name"');
    expect(linesOf("EXPOSE")).toEqual([ports.join(" ")]);
  });

  it("is built on a supported Node.js, for two architectures, without emulation", () => {
    const bases = linesOf("FROM").map((words) => /node:(\d+)-/.exec(words)?.[1]);
    expect(bases).toEqual(["24", "24"]);
    const bake = read("docker-bake.hcl");
    expect(bake).toContain('platforms = ["linux/amd64", "linux/arm64"]');
    expect(linesOf("FROM")[0]).toContain("--platform=$BUILDPLATFORM");
    expect(linesOf("RUN").join("\n")).toMatch(/TARGETARCH.* npm ci --omit=dev .*--cpu="\$cpu"/);
    expect(linesOf("RUN", imageStage)).toEqual([]);
    // The default builder of Docker refuses attestations.
    const [, image = ""] = /^target "image" \{\n(.*?)^\}/ms.exec(bake) ?? [];
    expect(image).toContain("tags");
    expect(image).not.toContain("attest");
  });

  it("has labels, and no declarations of types", () => {
    const [labels = ""] = linesOf("LABEL", imageStage);
    const source = repository.url.replace(/^git\+|\.git$/g, "");
    for (const [name, value] of [
      ["title", "Etagere"],
      ["licenses", "MIT"],
      ["source", source],
      ["version", "$VERSION"],
      ["revision", "$REVISION"],
    ]) {
      expect(labels).toContain(`org.opencontainers.image.${name}="${value}"`);
    }
    expect(linesOf("RUN").join("\n")).toMatch(/-name '\*\.d\.ts' .* -delete/);
  });

  it("stores data as any user without --location", () => {
    expect(linesOf("WORKDIR").at(-1)).toBe("/data");
    expect(linesOf("RUN").join("\n")).toMatch(/install -d -m 1777 \/volume\/data/);
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
    const [, moved = ""] = /mv (.*?) \/image\/opt\/etagere\//.exec(docker) ?? [];
    const built = moved.split(" ");
    expect(built.length).toBeGreaterThan(4);
    const made = new Set(["node_modules", "dist", "ui/dist"]);
    for (const path of built) expect(made.has(path) || existsSync(path), path).toBe(true);
  });
});

describe("versions", () => {
  it.each([
    ["Dockerfile", /^ARG VERSION=(\S+)$/gm],
    ["docker-bake.hcl", /variable "VERSION" \{\n\s+default = "(.*)"/g],
    ["deploy/chart/Chart.yaml", /^(?:appVersion|version): (\S+)$/gm],
    ...["compose.yaml", ...manifests.filter((path) => !path.includes("secret"))].map(
      (path) => [path, /image: "?(?:ghcr\.io\/etagere\/)?etagere:([\w.-]+)"?$/gm] as const,
    ),
    ["packages/azurite-names/package.json", /"(?:version|etagere)": "(.*)"/g],
    ...guides.map((path) => [path, /\betagere:(\d[\w.-]+)/g] as const),
  ] as const)("%s has that of the package", (path, pattern) => {
    const found = new Set([...read(path).matchAll(pattern)].map(([, each]) => each));
    expect(found).toEqual(new Set([version]));
  });

  it("every image has a tag", () => {
    const images = [...read("compose.yaml").matchAll(/^\s+image: (\S+)$/gm)];
    expect(images.length).toBe(5);
    for (const [, image] of images) expect(image).toMatch(/^[\w./-]+:[\w.-]+$/);
    const texts = guides.map(read).join("\n").replaceAll("\\\n", "");
    expect(texts).not.toMatch(/docker run(?:(?! etagere:)[^\n])* etagere( |\n|`|$)/);
    expect(texts).not.toMatch(/-t etagere( |`)|Container\("etagere"\)/);
  });
});

describe("the values of the chart", () => {
  interface Schema {
    readonly type?: string;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly additionalProperties?: unknown;
    readonly items?: Schema;
  }
  const schema = JSON.parse(read("deploy/chart/values.schema.json")) as Schema;

  /** The paths of values, with the schemas. */
  function schemasBelow(path: string, each: Schema): readonly (readonly [string, Schema])[] {
    const inside = Object.entries(each.properties ?? {});
    const below = inside.flatMap(([name, one]) => schemasBelow(`${path}.${name}`, one));
    return [[path, each], ...below];
  }

  it("are all in the schema, and the other way round", () => {
    const parents: string[] = [];
    const present = read("deploy/chart/values.yaml")
      .split("\n")
      .flatMap((line) => {
        const found = /^( *)(\w+):/.exec(line);
        if (found === null) return [];
        const [, indent = "", name = ""] = found;
        parents.splice(indent.length / 2, Infinity, name);
        return [`.${parents.join(".")}`];
      });
    // Free objects of Kubernetes, with defaults, and the token, which has none.
    const isFree = (path: string): boolean => /^\.(resources|secret)\./.test(path);
    const declared = schemasBelow("", schema).map(([path]) => path);
    // Helm itself adds this one.
    const values = declared.filter((path) => !["", ".global"].includes(path) && !isFree(path));
    expect(values.toSorted()).toEqual(present.filter((path) => !isFree(path)).toSorted());
  });

  it("have no unknown names where the chart reads them", () => {
    const open = schemasBelow("", schema)
      .filter(([path, { properties }]) => properties !== undefined && path !== ".secret")
      .filter(([, { additionalProperties }]) => additionalProperties !== false);
    expect(open.map(([path]) => path)).toEqual([]);
  });
});

describe("manifests", () => {
  const started = ["compose.yaml", ...manifests].filter((path) =>
    /^\s+- etagere$/m.test(read(path)),
  );

  it("exist for one node and for several", () => {
    expect(started).toHaveLength(3);
  });

  it.each(started)("%s uses options that exist, and all services are reachable", (path) => {
    const flags = [...read(path).matchAll(/^\s+- "?(--\w+=[^"\s]+)"?$/gm)].map(
      ([, flag = ""]) => flag,
    );
    expect(flags.length).toBeGreaterThan(4);
    expect(problemsOf(["etagere", ...flags])).toEqual([]);
    // Command lines are visible to all users of a machine.
    expect(flags.filter((flag) => /^--(store|adminToken|pwd)=/.test(flag))).toEqual([]);
  });

  it.each(started)("%s makes the root file system read-only, and mounts only data", (path) => {
    const text = read(path);
    expect(text).toMatch(/readOnlyRootFilesystem: true|read_only: true/);
    const mounts = [...text.matchAll(/mountPath: (\S+)/g)].map(([, at]) => at);
    expect(new Set([...mounts.map((at) => at?.replace(/\W+$/, "")), "/data"])).toEqual(
      new Set(["/data"]),
    );
  });

  it.each([...started, "deploy/haproxy.cfg"])("%s declares the ports", (path) => {
    expect(ports.filter((port) => !read(path).includes(String(port)))).toEqual([]);
  });

  it.each(started.filter((path) => path !== "compose.yaml"))("%s has all probes", (path) => {
    for (const probe of ["startup", "readiness", "liveness"]) {
      expect(read(path)).toContain(`${probe}Probe:`);
    }
  });

  it.each(manifests)("%s contains no tabs, and every document has a kind", (path) => {
    const text = read(path);
    expect(text).not.toContain("\t");
    for (const document of text.split(/^---$/m).filter((each) => each.includes(":"))) {
      expect(document).toMatch(/^kind: \w+$/m);
    }
  });
});

it.each(manifests)("%s was made from the present chart (scripts/deploy/manifests.mjs)", (path) => {
  const program = `import { chartHash } from "./scripts/deploy/manifests.mjs";
    process.stdout.write(chartHash());`;
  const words = ["--input-type=module", "--eval", program];
  const hash = execFileSync(process.execPath, words, { encoding: "utf8" });
  expect(read(path)).toContain(`; chart ${hash}.`);
});

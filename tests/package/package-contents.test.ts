import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { pack } from "./packed-package.ts";

interface Manifest {
  readonly name: string;
  readonly keywords: readonly string[];
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly repository: { readonly url: string };
  readonly bugs: string;
}

const folders = [".", "packages/azurite-names"];
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(posix.join(folder, "package.json"), "utf8")) as Manifest;
const packed = new Map(
  folders.map((folder) => [folder, pack(`./${folder}`, undefined).files.map(({ path }) => path)]),
);

describe.each(folders)("the npm package of %s", (folder) => {
  const paths = packed.get(folder) ?? [];

  it("contains no sources, tests and source maps", () => {
    const unwanted = /\.test\.|\.proof\.|^src\/|^tests\/|^scripts\/|\.map$|\.tgz$|^ui\/src\//;
    expect(paths.filter((path) => unwanted.test(path))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE"]));
  });

  it("refers to no source map", () => {
    const referring = paths.filter(
      (path) =>
        /\.(js|css)$/.test(path) &&
        readFileSync(posix.join(folder, path), "utf8").includes("sourceMappingURL"),
    );
    expect(referring).toEqual([]);
  });

  it("has links that work inside the package", () => {
    const broken = paths
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) => {
        const prose = readFileSync(posix.join(folder, path), "utf8");
        const links = [...prose.matchAll(/\]\((?!\w+:|#)([^)\s#]+)(?:#[^)]*)?\)/g)];
        return links
          .map(([, link = ""]) => posix.join(posix.dirname(path), link))
          .filter((target) => !paths.some((each) => each === target || isBelow(each, target)))
          .map((target) => `${path}: ${target}`);
      });
    expect(broken).toEqual([]);
  });

  it("has keywords and the supported versions of Node.js", () => {
    const { keywords, engines } = readManifest(folder);
    expect(keywords).toEqual(expect.arrayContaining(["azure", "azurite", "storage"]));
    expect(engines).toEqual({ node: ">=20.19" });
  });

  it("has the version, the repository and the address for reports of the server", () => {
    const { version, repository, bugs } = readManifest(folder);
    const server = readManifest(".");
    expect(repository.url).toMatch(/^git\+https:\/\/.+\.git$/);
    const present = { version, url: repository.url, bugs };
    const { url } = server.repository;
    expect(present).toEqual({ version: server.version, url, bugs: server.bugs });
  });
});

it("the server's package contains the program, its types and the explorer", () => {
  const needed = ["bin/etagere", "dist/cli/main.js", "dist/index.d.ts", "ui/dist/index.html"];
  needed.push("dist/index.d.cts", "dist/jest.d.cts", "dist/node-test.cjs", "dist/vitest.d.cts");
  needed.push("dist/THIRD-PARTY-NOTICES.txt");
  needed.push("dist/tour.js");
  expect(packed.get(".")).toEqual(expect.arrayContaining(needed));
});

it("the types for require have every name of those for import", () => {
  const namesIn = (path: string, pattern: RegExp): readonly string[] =>
    [...readFileSync(path, "utf8").matchAll(pattern)]
      .flatMap(([, names = ""]) => names.split(","))
      .map((name) => name.trim())
      .toSorted();
  const exported = namesIn("src/index.ts", /^export (?:type )?\{([^}]+)\}/gm);
  expect(exported.length).toBeGreaterThan(10);
  expect(namesIn("src/index.cts", /^ {2}export type (\w+) =/gm)).toEqual(exported);
});

it("the documents name archives so that npm takes them for files", () => {
  const guides = readdirSync("docs/guides").map((name) => `docs/guides/${name}`);
  const texts = ["README.md", "CONTRIBUTING.md", ...guides].map((path) =>
    readFileSync(path, "utf8"),
  );
  const commands = texts.flatMap((text) => text.match(/npm (?:publish|i|install) .*\.tgz/g) ?? []);
  expect(commands.length).toBeGreaterThan(2);
  const words = commands.flatMap((command) => command.split(" "));
  // npm takes a/b for a repository of GitHub.
  expect(words.filter((word) => word.endsWith(".tgz") && !word.startsWith("./"))).toEqual([]);
  // The second package depends on the first, which no registry may have yet.
  const names = /azurite-names-\S+\.tgz/;
  for (const command of commands.filter((each) => names.test(each))) {
    expect(command).toMatch(/ \.\/etagere-\d\S+\.tgz /);
  }
});

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

it("names exactly the client libraries of the tour in the bill of materials", () => {
  const sources = readdirSync("examples/tour", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(posix.join("examples/tour", name), "utf8"));
  const imported = sources.flatMap((text) =>
    [...text.matchAll(/from "(@[^/"]+\/[^/"]+)/g)].map(([, name = ""]) => name),
  );
  const bill = readFileSync("scripts/release/sbom.mjs", "utf8");
  const [, list = ""] = /tourPackages = new Set\(\[([^\]]*)\]/.exec(bill) ?? [];
  const listed = [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  expect(listed).toEqual([...new Set(imported)].toSorted());
});

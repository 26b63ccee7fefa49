// Builds single executables: Node.js with the bundled server, the explorer's page and the native
// modules inside (Node's "single executable application").
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { root, run } from "../prepare.mjs";
import { lockedPackage, unpackedPackage } from "./npm-archive.mjs";
import { hostPlatform, nodeVersion, platforms } from "./platforms.mjs";

const work = join(root, ".build", "executable");
const runtime = join(root, "scripts", "executable");

/** Modules that read files of the package, and what replaces them in the executable. */
const replacements = new Map([
  [join(root, "src", "host", "package-folder.ts"), join(runtime, "package-folder.ts")],
  [join(root, "src", "host", "version.ts"), join(runtime, "version.ts")],
  [join(root, "src", "cli", "load-tour.ts"), join(runtime, "load-tour.ts")],
  ["node-gyp-build-optional-packages", join(runtime, "lmdb-addon.ts")],
]);

/** Needs `dist` of the explorer. Returns the names of the executables it wrote. */
export async function buildExecutables({ names, output, version }) {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const program = await bundle();
  return names.map((name) => buildExecutable({ name, output, version, program }));
}

async function bundle() {
  const { build } = await import("vite");
  await build({
    configFile: false,
    root,
    logLevel: "warn",
    plugins: [{ name: "etagere-executable", resolveId }],
    ssr: { noExternal: true },
    build: {
      ssr: join(runtime, "entry.ts"),
      outDir: work,
      emptyOutDir: false,
      target: "node26",
      rolldownOptions: {
        // lmdb compiles a function at run time.
        checks: { eval: false },
        // Optional modules of dependencies that are not installed.
        external: ["pg-native", "pg-cloudflare"],
        output: { format: "es", entryFileNames: "etagere.mjs", codeSplitting: false },
      },
    },
  });
  return join(work, "etagere.mjs");
}

/** The filter saves a call for each import of the bundle. */
const resolveId = {
  order: "pre",
  filter: { id: /\/(package-folder|version|load-tour)\.ts$|^node-gyp-build-optional-packages$/ },
  async handler(source, importer, options) {
    const replaced = replacements.get(source);
    if (replaced !== undefined) return replaced;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return found === null ? undefined : (replacements.get(found.id) ?? found);
  },
};

function buildExecutable({ name, output, version, program }) {
  const { node, integrity, binary, addon } = platforms[name];
  const runtimeFolder = unpackedPackage({ name: node, version: nodeVersion, integrity });
  const file = `etagere-${version}-${name}${name.startsWith("win32") ? ".exe" : ""}`;
  const assets = assetsOf({ name, addon });
  const config = join(work, `${name}.json`);
  writeFileSync(
    config,
    JSON.stringify({
      main: program,
      mainFormat: "module",
      executable: join(runtimeFolder, binary),
      output: join(output, file),
      disableExperimentalSEAWarning: true,
      // Compiled code is valid only for the platform that compiled it.
      useCodeCache: name === hostPlatform,
      assets,
    }),
  );
  run(builderNode(), ["--build-sea", config]);
  chmodSync(join(output, file), 0o755);
  return file;
}

/** Node.js of this platform, in the version that is put into the executables. */
function builderNode() {
  const host = platforms[hostPlatform];
  if (host === undefined) throw new Error(`executables cannot be built on ${hostPlatform}`);
  const { node, integrity, binary } = host;
  const path = join(unpackedPackage({ name: node, version: nodeVersion, integrity }), binary);
  chmodSync(path, 0o755);
  return path;
}

/** Files of the package by name; `files.json` lists those that are extracted. */
function assetsOf({ name, addon }) {
  const page = join(root, "ui", "dist");
  const pageFiles = readdirSync(page, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted();
  const addonFile = join(work, `lmdb-${name}.node`);
  cpSync(join(unpackedPackage(lockedPackage(`@lmdb/lmdb-${name}`)), addon), addonFile);
  const extracted = Object.fromEntries([
    ["native/lmdb.node", addonFile],
    ...pageFiles.map((path) => [path, join(root, path)]),
  ]);
  const list = join(work, `${name}-files.json`);
  writeFileSync(list, JSON.stringify(Object.keys(extracted)));
  return { ...extracted, "files.json": list, "package.json": join(root, "package.json") };
}

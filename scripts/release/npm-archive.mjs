// Downloads archives of npm packages; each is verified before anything in it is used.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";

const cache = join(root, "node_modules", ".cache", "etagere-release");

/** Returns the folder with the unpacked package. `integrity` is the hash that npm records,
 *  `sha512-…`; undefined takes the version as npm's registry has it. */
export function unpackedPackage({ name, version, integrity }) {
  const folder = join(cache, `${name.replace("/", "+")}-${version}`);
  const unpacked = join(folder, "package");
  if (existsSync(unpacked)) return unpacked;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, "download-"));
  try {
    const archive = download(`${name}@${version}`, work);
    if (integrity !== undefined) verify(archive, { name, integrity });
    execFileSync("tar", ["-xzf", archive, "-C", work]);
    rmSync(archive);
    rmSync(folder, { recursive: true, force: true });
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return unpacked;
}

function download(specifier, folder) {
  const words = ["pack", specifier, "--json", "--prefer-offline", `--pack-destination=${folder}`];
  const options = { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const [{ filename }] = JSON.parse(execFileSync("npm", [...words, "--loglevel=error"], options));
  return join(folder, filename);
}

function verify(archive, { name, integrity }) {
  const hash = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (`sha512-${hash}` === integrity) return;
  throw new Error(`${name}: the archive has the hash sha512-${hash} instead of ${integrity}`);
}

/** The pinned version and hash of a package in package-lock.json. */
export function lockedPackage(name) {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const entry = lock.packages[`node_modules/${name}`];
  if (entry?.integrity === undefined) throw new Error(`package-lock.json has no hash for ${name}`);
  return { name, version: entry.version, integrity: entry.integrity };
}

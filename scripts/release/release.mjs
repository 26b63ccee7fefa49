// Writes what a release consists of: npm packages, executables, the bill of materials, checksums.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";
import { buildExecutables } from "./executable.mjs";
import { executableNotices, noticesFile } from "./notices.mjs";
import { billOfMaterials } from "./sbom.mjs";

const packageFolders = [root, join(root, "packages", "azurite-names")];

/** `executables` are names of platforms. Everything in the folder `output` is replaced. */
export async function writeRelease({ output, executables, hasPackages }) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const files = hasPackages ? packageFolders.map((folder) => pack(folder, output)) : [];
  if (executables.length > 0) {
    files.push(...(await buildExecutables({ names: executables, output, version })), noticesFile);
    writeFileSync(join(output, noticesFile), executableNotices());
  }
  const bill = `etagere-${version}.cdx.json`;
  const contents = billOfMaterials({ executables });
  writeFileSync(join(output, bill), `${JSON.stringify(contents, null, 2)}\n`);
  writeFileSync(join(output, "SHA256SUMS"), checksumsOf(output, [...files, bill]));
  return [...files, bill, "SHA256SUMS"];
}

/** Uses the existing build. */
function pack(folder, output) {
  const words = ["pack", "--ignore-scripts", "--json", `--pack-destination=${output}`];
  const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const [{ filename }] = JSON.parse(execFileSync("npm", [...words, "--loglevel=error"], options));
  return filename;
}

/** In the form of `sha256sum --check`. */
function checksumsOf(folder, names) {
  const lines = names.toSorted().map((name) => {
    const hash = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return `${hash}  ${name}\n`;
  });
  return lines.join("");
}

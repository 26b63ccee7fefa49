// The licences of everything that is delivered with the server: the packages of the bill of
// materials, and Node.js for the executables.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../prepare.mjs";
import { unpackedPackage } from "./npm-archive.mjs";
import { hostPlatform, nodeVersion, platforms } from "./platforms.mjs";
import { deliveredPackages } from "./sbom.mjs";

export const noticesFile = "THIRD-PARTY-NOTICES.txt";
const licenceFile = /^(licen[cs]e|notice|copying)/i;

/** The text depends only on what package-lock.json lists and on the installed packages. */
function thirdPartyNotices() {
  const sections = deliveredPackages().packages.map(
    ({ name, version, license, path }) =>
      `${name} ${version}\nLicence: ${license}\n\n${licenceTextOf(join(root, path), license)}\n`,
  );
  const head = "Etagere contains or installs these components:\n";
  return [head, ...sections].join(`\n${"-".repeat(80)}\n\n`);
}

/** The notices of an executable, which also contains Node.js. */
export function executableNotices() {
  const { node, integrity } = platforms[hostPlatform];
  const folder = unpackedPackage({ name: node, version: nodeVersion, integrity });
  const text = readFileSync(join(folder, "LICENSE"), "utf8").trim();
  return `${thirdPartyNotices()}\n${"-".repeat(80)}\n\nNode.js ${nodeVersion}\n\n${text}\n`;
}

/** Native modules for other platforms are not installed; their text is that of the package that
 *  names them. */
function licenceTextOf(folder, license) {
  if (!existsSync(folder)) return `A native module for another platform. Licence: ${license}`;
  const files = readdirSync(folder).filter((name) => licenceFile.test(name));
  const texts = files.map((name) => readFileSync(join(folder, name), "utf8").trim());
  if (texts.length > 0) return texts.join("\n\n");
  const { author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const holder = typeof author === "string" ? author : (author?.name ?? "its contributors");
  return `The package has no licence text. Its manifest names the licence ${license}; by ${holder}.`;
}

// As a program, it writes the notices of the npm package and of the image into the build.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(root, "dist", noticesFile), thirdPartyNotices());
}

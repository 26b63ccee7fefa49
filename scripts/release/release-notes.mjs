// Prints the section of CHANGELOG.md for a release, and fails if the tag does not belong to what is
// built: `node scripts/release/release-notes.mjs v0.1.0`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../prepare.mjs";

/** Throws with what must be changed before the release. */
export function releaseNotes({ tag, version, changelog }) {
  if (tag !== `v${version}`) {
    throw new Error(`the tag ${tag} is not that of the package, v${version}: change package.json`);
  }
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/[ \n]/, 1)[0] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version} (DATE)"`);
  const [title = "", ...lines] = section.split("\n");
  if (!/^\S+ \(\d{4}-\d{2}-\d{2}\)$/.test(title)) {
    throw new Error(`CHANGELOG.md: "## ${title}" has no date; it must be "## ${version} (DATE)"`);
  }
  return `${lines.join("\n").trim()}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  try {
    process.stdout.write(releaseNotes({ tag: process.argv[2] ?? "", version, changelog }));
  } catch (error) {
    process.stderr.write(`etagere: ${error.message}\n`);
    process.exitCode = 1;
  }
}

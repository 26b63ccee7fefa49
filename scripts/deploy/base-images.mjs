// Stand-ins of the public images, which cannot be downloaded everywhere: a small Debian, and the
// same with Node.js from its npm package under the name that the Dockerfile uses.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";
import { unpackedPackage } from "../release/npm-archive.mjs";

const nodeVersion = "24.21.0";
const npmVersion = "11.21.1";
const authorities = "/etc/ssl/certs/ca-certificates.crt";

export function importBaseImages({ small, work, docker }) {
  importFolder({ docker, work, folder: small, name: "debian:trixie-slim" });
  const folder = join(work, "node-image");
  execFileSync("cp", ["--archive", small, folder]);
  addNode(folder);
  const from = /^FROM .*?(node:\S+)/m.exec(readFileSync(join(root, "Dockerfile"), "utf8"));
  importFolder({ docker, work, folder, name: from[1] });
}

function addNode(folder) {
  const local = join(folder, "usr/local");
  const node = unpackedPackage({ name: `node-linux-${process.arch}`, version: nodeVersion });
  cpSync(join(node, "bin/node"), join(local, "bin/node"));
  const npm = unpackedPackage({ name: "npm", version: npmVersion });
  mkdirSync(join(local, "lib/node_modules"), { recursive: true });
  cpSync(npm, join(local, "lib/node_modules/npm"), { recursive: true });
  const programs = ["bin/node", "lib/node_modules/npm/bin/npm-cli.js"];
  for (const path of programs) chmodSync(join(local, path), 0o755);
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(local, "bin/npm"));
  appendFileSync(join(folder, "etc/passwd"), "node:x:1000:1000::/home/node:/bin/bash\n");
  appendFileSync(join(folder, "etc/group"), "node:x:1000:\n");
  mkdirSync(join(folder, "home/node"));
  execFileSync("chown", ["1000:1000", join(folder, "home/node")]);
  // Registries may be reached through a proxy with an authority of its own.
  if (!existsSync(authorities)) return;
  mkdirSync(join(folder, "etc/ssl/certs"), { recursive: true });
  cpSync(authorities, join(folder, authorities));
  mkdirSync(join(local, "etc"), { recursive: true });
  writeFileSync(join(local, "etc/npmrc"), `cafile=${authorities}\n`);
}

function importFolder({ docker, work, folder, name }) {
  const archive = join(work, "image.tar");
  execFileSync("tar", ["--create", "--file", archive, "--directory", folder, "."]);
  const { status, stderr } = docker(["import", archive, name]);
  if (status !== 0) throw new Error(`docker import ${name}: ${stderr}`);
}

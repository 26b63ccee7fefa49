// Root folders of Debian, from Debian's packages alone: one with Docker, Prometheus and what they
// need, and a small one that the stand-ins of public images are built from.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";

const release = "trixie";
const mirror = "http://deb.debian.org/debian";
const packages = [
  "docker.io",
  "docker-cli",
  "docker-buildx",
  "docker-compose",
  "iptables",
  "iproute2",
  "slirp4netns",
  "ca-certificates",
  "prometheus",
];
const cache = join(root, "node_modules", ".cache", "etagere-deploy");

/** Why no container runtime can be set up here; undefined if it can be tried. */
export function runtimeProblem() {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it needs root on Linux";
  if (!existsSync("/dev/net/tun")) return "/dev/net/tun is missing";
  if (spawnSync("debootstrap", ["--version"], { stdio: "ignore" }).error === undefined) {
    return namespaceProblem();
  }
  if (!existsSync("/etc/debian_version")) return "debootstrap is missing";
  const words = ["install", "--yes", "--quiet", "--no-install-recommends", "debootstrap"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status } = spawnSync("apt-get", words, { stdio: ["ignore", "ignore", "inherit"], env });
  return status === 0 ? namespaceProblem() : "debootstrap cannot be installed";
}

function namespaceProblem() {
  const words = ["--mount", "--net", "--pid", "--cgroup", "--fork", "mount", "-t", "tmpfs"];
  const { status } = spawnSync("unshare", [...words, "none", "/mnt"], { stdio: "ignore" });
  return status === 0 ? undefined : "private mount and network namespaces are not permitted";
}

/** The folders, which are created if they do not exist. Later runs use them again. */
export function runtimeFolders() {
  mkdirSync(cache, { recursive: true });
  const small = folderOnce(`debian-${release}`, (folder) => {
    say("debootstrap of a small Debian …");
    runIn("debootstrap", ["--variant=minbase", release, folder, mirror]);
  });
  const runtime = folderOnce(`runtime-${release}`, (folder) => {
    say("installing Docker and Prometheus into a folder …");
    runIn("cp", ["--archive", small, folder]);
    installPackages(folder);
  });
  return { small, runtime };
}

/** Creates a folder under a temporary name, so that an interrupted run leaves no incomplete one. */
function folderOnce(name, create) {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const incomplete = `${folder}.${process.pid}`;
  try {
    create(incomplete);
    // Another run may have been first.
    if (!existsSync(folder)) renameSync(incomplete, folder);
  } finally {
    rmSync(incomplete, { recursive: true, force: true });
  }
  return folder;
}

/** In namespaces of its own: no mount stays, and no service that a package starts. */
function installPackages(folder) {
  writeFileSync(join(folder, "usr/sbin/policy-rc.d"), "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  const script = `mount -t proc proc "$0/proc"
    cp /etc/resolv.conf "$0/etc/resolv.conf"
    export DEBIAN_FRONTEND=noninteractive
    exec chroot "$0" apt-get -o Dpkg::Options::=--force-unsafe-io install --yes --quiet \\
      --no-install-recommends ${packages.join(" ")}`;
  const words = ["--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", script, folder];
  runIn("unshare", words);
}

function runIn(command, words) {
  const { status, stdout, stderr } = spawnSync(command, words, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return;
  const lines = `${stdout}${stderr}`.trim().split("\n").slice(-20).join("\n");
  throw new Error(`${command} ended with ${status}:\n${lines}`);
}

export function say(text) {
  process.stderr.write(`etagere: ${text}\n`);
}

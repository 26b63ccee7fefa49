// `npm run test:deploy`: builds the image with a real Docker and runs it, also with compose; checks
// the Helm chart, the dashboards and the alerts with Helm, kubeconform and Prometheus.
//   -- image chart                some of the tests: image, compose, chart, metrics, release
//   -- --allow-missing            ends with 0 if no container runtime can be set up here
// Docker runs in namespaces of its own: whatever happens, its processes, mounts and networks end
// with this command. Docker and Prometheus are in a folder; nothing is installed on the machine but
// debootstrap and smbclient.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runtimeFolders, runtimeProblem, say } from "./deploy/runtime-folder.mjs";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";
import { orUsage } from "./script-options.mjs";
import { installMissing } from "./tools.mjs";

const removalsMax = 100;
const removalMilliseconds = 100;
const { values, positionals } = orUsage(import.meta.url, () =>
  parseArgs({
    allowPositionals: true,
    options: { "allow-missing": { type: "boolean", default: false } },
  }),
);
ensureInstalled();
const begun = Date.now();
const problem = runtimeProblem();
if (problem !== undefined) endUntested(problem);
installMissing(["smbclient"]);
ensureBuilt();
const { small, runtime } = foldersOrEnd();
const work = mkdtempSync(join(tmpdir(), "etagere-deploy-"));
const cgroup = `etagere-deploy-${process.pid}`;
const environment = { root, small, runtime, work, cgroup, tests: positionals };
process.exitCode = await runInNamespaces();
say(`test:deploy took ${Math.round((Date.now() - begun) / 1000)} s`);

function endUntested(why) {
  say(`NOT TESTED: no container runtime can be set up here: ${why}`);
  process.exit(values["allow-missing"] ? 0 : 1);
}

/** Without the network of Debian's packages there is no runtime. */
function foldersOrEnd() {
  try {
    return runtimeFolders();
  } catch (error) {
    return endUntested(error.message);
  }
}

/** Returns the exit code. */
async function runInNamespaces() {
  // The first process of the process namespace: when it ends, the kernel ends all others.
  const words = ["--mount", "--net", "--pid", "--cgroup", "--fork", "--kill-child"];
  const program = join(root, "scripts", "deploy", "in-namespaces.mjs");
  const inside = spawn(
    "unshare",
    [...words, process.execPath, program, JSON.stringify(environment)],
    { stdio: ["pipe", "inherit", "inherit", "ipc"] },
  );
  const ended = new Promise((resolve) => {
    inside.once("exit", (code) => resolve(code ?? 1));
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => inside.kill("SIGKILL"));
  }
  let network;
  inside.once("message", () => {
    network = openNetwork(inside.pid);
  });
  const code = await ended;
  network?.kill();
  rmSync(work, { recursive: true, force: true });
  await removeCgroups();
  return code;
}

/** Connects the network namespace to the Internet through a process, without changes to the
 *  network of the machine. It ends when this process ends, because its input is a pipe. */
function openNetwork(unsharePid) {
  const script = `inside=$(cat /proc/$1/task/$1/children)
    mount --make-rprivate / && mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev"
    exec chroot "$0" slirp4netns --configure --mtu=1400 --disable-host-loopback --exit-fd=0 \\
      $inside tap0`;
  const words = ["--mount", "sh", "-euc", script, runtime, String(unsharePid)];
  return spawn("unshare", words, { stdio: ["pipe", "ignore", "ignore"] });
}

/** Groups of killed containers stay. They can be removed when their last process has ended. */
async function removeCgroups() {
  const hierarchies = readdirSync("/sys/fs/cgroup", { withFileTypes: true });
  const folders = hierarchies.filter((each) => each.isDirectory()).map(({ name }) => name);
  const groups = ["", ...folders].map((folder) => join("/sys/fs/cgroup", folder, cgroup));
  for (let attempt = 0; attempt < removalsMax; attempt += 1) {
    for (const group of groups) removeEmpty(group);
    if (!groups.some((group) => existsSync(group))) return;
    await setTimeout(removalMilliseconds);
  }
  say(`control groups ${cgroup} could not be removed`);
}

function removeEmpty(folder) {
  if (!existsSync(folder)) return;
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
    rmdirSync(folder);
  } catch {
    // A process is still ending.
  }
}

// The part of `npm run test:deploy` that runs in namespaces of its own: mounts, Docker, the tests.
// As the first process of the process namespace, it ends everything by its own end.
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { tool } from "../prepare.mjs";
import { importBaseImages } from "./base-images.mjs";

const { root, small, runtime, work, cgroup, tests } = JSON.parse(process.argv[2]);
const waitMilliseconds = 200;
const startMillisecondsMax = 120_000;

mountAll();
run("ip", ["link", "set", "lo", "up"]);
process.send("ready");
await until("the network", () => isUp("tap0"));
const docker = startDocker();
await until("Docker", () => docker.exitCode !== null || runDocker(["info"]).status === 0);
if (docker.exitCode !== null) fail(`Docker ended:\n${logTail()}`);
importBaseImages({ small, work, docker: runDocker });
const testStatus = await runTests();
if (testStatus !== 0) process.stderr.write(`the last lines of Docker:\n${logTail()}\n`);
process.exit(testStatus);

/** Mounts are private to the namespace, and end with it. */
function mountAll() {
  run("mount", ["--make-rprivate", "/"]);
  run("mount", ["-t", "proc", "proc", "/proc"]);
  run("mount", ["--bind", runtime, runtime]);
  for (const [type, at] of [
    ["proc", "proc"],
    ["sysfs", "sys"],
    ["tmpfs", "run"],
    ["tmpfs", "tmp"],
  ]) {
    run("mount", ["-t", type, type, join(runtime, at)]);
  }
  run("mount", ["--rbind", "/dev", join(runtime, "dev")]);
  mountCgroups();
  // The context of builds and files that containers mount, at the same path.
  for (const [path, at] of [
    [root, root],
    [work, work],
    [join(work, "docker"), "/var/lib/docker"],
  ]) {
    mkdirSync(path, { recursive: true });
    mkdirSync(join(runtime, at), { recursive: true });
    run("mount", ["--bind", path, join(runtime, at)]);
  }
}

/** Version 1, version 2, or both beside each other. */
function mountCgroups() {
  const source = "/sys/fs/cgroup";
  const target = join(runtime, source);
  if (existsSync(join(source, "cgroup.controllers")))
    return run("mount", ["--bind", source, target]);
  run("mount", ["-t", "tmpfs", "cgroup", target]);
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    mkdirSync(join(target, entry.name));
    run("mount", ["--bind", join(source, entry.name), join(target, entry.name)]);
  }
}

function startDocker() {
  const log = createWriteStream(logFile());
  // With chroot alone, a process that Docker starts in a running container would find the root of
  // this namespace instead of that of the container.
  const script = `mount --rbind "$0" "$0" && cd "$0" && pivot_root . mnt && umount --lazy /mnt
    exec "$@"`;
  // The resolver of the machine may be unreachable from containers; slirp4netns has one.
  const words = ["dockerd", `--cgroup-parent=/${cgroup}`, "--dns=10.0.2.3", "--mtu=1400"];
  const child = spawn("unshare", ["--mount", "sh", "-euc", script, runtime, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  return child;
}

function runDocker(words, options = {}) {
  return spawnSync("chroot", [runtime, "docker", ...words], { encoding: "utf8", ...options });
}

function runTests() {
  const env = {
    ...process.env,
    ETAGERE_DEPLOY_RUNTIME: runtime,
    ETAGERE_DEPLOY_WORK: work,
  };
  const words = ["run", "--config", "vitest.deploy.config.ts", ...tests];
  return new Promise((resolve) => {
    const child = spawn(tool("vitest"), words, { cwd: root, stdio: "inherit", env });
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

function isUp(name) {
  return (
    existsSync(`/sys/class/net/${name}`) || readFileSync("/proc/net/dev", "utf8").includes(name)
  );
}

async function until(what, test) {
  for (let waited = 0; waited < startMillisecondsMax; waited += waitMilliseconds) {
    if (test()) return;
    await setTimeout(waitMilliseconds);
  }
  fail(`${what}: not ready after ${startMillisecondsMax} ms\n${logTail()}`);
}

function logFile() {
  return join(work, "docker.log");
}

function logTail() {
  if (!existsSync(logFile())) return "";
  return readFileSync(logFile(), "utf8").split("\n").slice(-30).join("\n");
}

function run(command, words) {
  const { status, stderr } = spawnSync(command, words, { encoding: "utf8" });
  if (status !== 0) fail(`${command} ${words.join(" ")}: ${stderr}`);
}

function fail(text) {
  process.stderr.write(`etagere: ${text}\n`);
  process.exit(1);
}

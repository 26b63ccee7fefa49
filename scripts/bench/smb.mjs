// `npm run bench -- --smb`: smbclient against Samba's server and this one, in one run. Samba by
// default flushes nothing that a client does not flush; a second share of it, with `sync always`,
// flushes every write. Needs Debian's samba and smbclient, and root for Samba's server. Uses a
// temporary folder.
//   --rounds N     rounds per server; the best is reported (3)
//   --program FILE another build of this server than the one in dist
import { execFile, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { parseArgs, promisify } from "node:util";
import { ensureBuilt, ensureInstalled, root } from "../prepare.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    program: { type: "string", default: join(root, "bin", "etagere") },
  },
});
const rounds = Number(values.rounds);
const bigMebibytes = 512;
const smallFiles = 1000;
const smallBytes = 4096;
/** V8 compiles the code for about this many rounds of small files. */
const warmUpRounds = 4;
const account = "devstoreaccount1";
const key =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const folder = mkdtempSync(join(tmpdir(), "smb-throughput-"));
const execute = promisify(execFile);
const children = [];

function cleanUp() {
  for (const child of children) child.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    cleanUp();
    process.exit(1);
  });
}

function makeFiles() {
  const chunk = randomBytes(1024 * 1024);
  const big = Buffer.concat(Array.from({ length: bigMebibytes }, () => chunk));
  for (let at = 0; at < big.length; at += 4096) big.writeUInt32LE(at, at);
  writeFileSync(join(folder, "big"), big);
  mkdirSync(join(folder, "small"));
  for (let index = 0; index < smallFiles; index += 1) {
    writeFileSync(join(folder, "small", `f${index}`), randomBytes(smallBytes));
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The servers of one process: the default share, and one that flushes every write. */
async function startSamba() {
  const port = await freePort();
  const own = join(folder, "samba");
  for (const name of ["share", "synced", "private", "lock", "state", "cache", "pid", "rpc"]) {
    mkdirSync(join(own, name), { recursive: true });
  }
  const config = join(own, "smb.conf");
  const lines = [
    "[global]",
    "server role = standalone server",
    `smb ports = ${port}`,
    "bind interfaces only = yes",
    "interfaces = 127.0.0.1",
    ...["private", "lock", "state", "cache", "pid"].map(
      (name) => `${name} ${name === "private" ? "dir" : "directory"} = ${join(own, name)}`,
    ),
    `ncalrpc dir = ${join(own, "rpc")}`,
    `log file = ${join(own, "log")}`,
    "disable spoolss = yes",
    "load printers = no",
    ...shareLines("share", join(own, "share")),
    ...shareLines("synced", join(own, "synced")),
    "sync always = yes",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const password = "Passw0rd1";
  const input = `${password}\n${password}\n`;
  spawnSync("smbpasswd", ["-c", config, "-s", "-a", "root"], { input });
  // A process group of its own: smbd signals its whole group when it ends.
  const words = ["-s", config, "-F", "--no-process-group"];
  children.push(spawn("smbd", words, { stdio: "ignore", detached: true }));
  const login = `root%${password}`;
  return [
    { name: "samba", share: "share", port, login },
    { name: "synced", share: "synced", port, login },
  ];
}

function shareLines(name, path) {
  return [`[${name}]`, `path = ${path}`, "read only = no", "force user = root"];
}

async function startOurs() {
  const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
  const words = [values.program, `--location=${join(folder, "data")}`, ...ports, "--silent"];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const urls = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /(File service|SMB endpoint|admin) is successfully listening at (\S+)/.exec(line);
    if (found !== null) urls[found[1]] = found[2];
    if (found?.[1] === "admin") break;
  }
  child.stdout.resume();
  const { ShareServiceClient } = await import("@azure/storage-file-share");
  const service = ShareServiceClient.fromConnectionString(
    `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};` +
      `FileEndpoint=${urls["File service"]}/${account}`,
  );
  await service.getShareClient("share").create();
  const { port } = new URL(urls["SMB endpoint"]);
  return { name: "etagere", share: "share", port, login: `${account}%${key}` };
}

async function seconds({ share, port, login }, protection, commands) {
  const address = [`//127.0.0.1/${share}`, "-p", String(port), "-U", login];
  const words = [...address, `--client-protection=${protection}`, "-c", commands];
  const start = performance.now();
  await execute("smbclient", words, { maxBuffer: 1 << 26 });
  return (performance.now() - start) / 1000;
}

async function sumOf(path) {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** Rates of one round in MiB/s. */
async function measureLarge(server, protection) {
  const ask = (commands) => seconds(server, protection, commands);
  const [big, back] = [join(folder, "big"), join(folder, "back")];
  const rates = {};
  rates["put 512 MiB"] = bigMebibytes / (await ask(`put ${big} big`));
  rates["get 512 MiB"] = bigMebibytes / (await ask(`get big ${back}`));
  if ((await sumOf(big)) !== (await sumOf(back))) throw new Error("downloaded bytes differ");
  rmSync(back);
  await ask("del big");
  return rates;
}

/** Rates of one round in files per second. */
async function measureSmall(server, protection) {
  const ask = (commands) => seconds(server, protection, commands);
  const back = join(folder, "back");
  mkdirSync(back);
  const from = `mkdir d; cd d; lcd ${join(folder, "small")}; prompt off; mput f*`;
  const rates = {};
  rates["put 1,000 x 4 KiB"] = smallFiles / (await ask(from));
  rates["get 1,000 x 4 KiB"] = smallFiles / (await ask(`cd d; lcd ${back}; prompt off; mget f*`));
  if (readdirSync(back).length !== smallFiles) throw new Error("files are missing");
  rates["delete 1,000"] = smallFiles / (await ask("deltree d"));
  rmSync(back, { recursive: true });
  return rates;
}

function print(protection, best) {
  console.log(`\n${protection === "sign" ? "signed" : "encrypted"}, best of ${rounds}`);
  for (const name of Object.keys(best.samba)) {
    const [samba, synced, ours] = [best.samba[name], best.synced[name], best.etagere[name]];
    const figures = [samba, synced, ours].map((rate) => rate.toFixed(0).padStart(8)).join("");
    const shares = [samba, synced].map((rate) => `${Math.round((ours / rate) * 100)} %`);
    console.log(`${name.padEnd(20)}${figures}${shares.map((text) => text.padStart(8)).join("")}`);
  }
}

try {
  ensureInstalled();
  if (values.program.startsWith(root)) ensureBuilt();
  makeFiles();
  const servers = [...(await startSamba()), await startOurs()];
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const titles = ["Samba", "synced", "ours", "share", "of sync"];
  console.log(`${"".padEnd(20)}${titles.map((title) => title.padStart(8)).join("")}`);
  for (const protection of ["sign", "encrypt"]) {
    const best = { samba: {}, synced: {}, etagere: {} };
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      for (const server of servers) {
        const small = await measureSmall(server, protection);
        if (round < 0) continue;
        const rates = { ...(await measureLarge(server, protection)), ...small };
        for (const [name, rate] of Object.entries(rates)) {
          best[server.name][name] = Math.max(rate, best[server.name][name] ?? 0);
        }
      }
    }
    print(protection, best);
  }
} finally {
  cleanUp();
}

// `npm run parity -- FOLDER [--store postgres] [words for replay.mjs]`: replays recordings of the
// real service against an empty server: plain, with versioning and soft delete, and the
// Data Lake recordings with a hierarchical namespace.
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, parse, resolve } from "node:path";
import { openStore } from "./database.mjs";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";
import { serve } from "./serve.mjs";

const account = "devstoreaccount1";
const key =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const retention = { versioning: true, containerSoftDeleteDays: 7, shareSoftDeleteDays: 7 };
const runs = [
  { name: "plain", accounts: { [account]: {} }, environment: {} },
  {
    name: "versions",
    accounts: { [account]: retention },
    environment: { REPLAY_VERSIONING: "1", REPLAY_SOFTDELETE: "1" },
  },
  {
    name: "hierarchical",
    accounts: { [account]: { hierarchicalNamespace: true } },
    environment: {},
    recordings: /^dfs-.*\.jsonl\.gz$/,
  },
];

/** ETAGERE_TEST_PROGRAM selects another build. */
const program = process.env["ETAGERE_TEST_PROGRAM"] ?? join(root, "bin", "etagere");
const [folder, ...given] = process.argv.slice(2);
const callerFolder = process.env["INIT_CWD"] ?? process.cwd();
const replay = folder === undefined ? undefined : resolve(callerFolder, folder, "replay.mjs");
if (replay === undefined || !existsSync(replay)) {
  console.error("usage: npm run parity -- FOLDER [--store postgres] [words for FOLDER/replay.mjs]");
  process.exit(2);
}
ensureInstalled();
if (process.env["ETAGERE_TEST_PROGRAM"] === undefined) ensureBuilt();
const { words, store, stop: stopStore } = await openStore(given);
for (const run of runs) await replayAgainst(run);
stopStore();

async function replayAgainst({ name, accounts, environment, recordings }) {
  const files = recordings === undefined ? [] : filesOf(recordings);
  if (files === undefined) return;
  console.log(`\n== ${name}`);
  const scratch = mkdtempSync(join(tmpdir(), "etagere-parity-"));
  const config = join(scratch, "accounts.json");
  writeFileSync(config, JSON.stringify({ accounts }));
  const ports = ["blob", "queue", "table", "file", "dfs", "smb", "admin"].map(
    (port) => `--${port}Port=0`,
  );
  const place = [`--location=${join(scratch, "data")}`, ...storeFlags(name)];
  const flags = [...ports, ...place, `--config=${config}`, "--silent"];
  const command = [process.execPath, program, ...flags];
  const { urls, stop } = await serve({ command, last: /Etagere admin is successfully listening/ });
  try {
    if (environment.REPLAY_SOFTDELETE !== undefined) await turnSoftDeleteOn(urls.blob);
    spawnSync(process.execPath, [replay, ...wordsFor(name), ...files], {
      cwd: callerFolder,
      stdio: "inherit",
      env: { ...process.env, ...environment, ...endpoints(urls, recordings !== undefined) },
    });
  } finally {
    await stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function storeFlags(name) {
  if (store === undefined) return [];
  const url = new URL(store);
  url.searchParams.set("schema", `parity_${name}_${process.pid}`);
  return [`--store=${url.href}`];
}

/** Recordings of one endpoint alone, unless the caller names files; undefined if there are none. */
function filesOf(recordings) {
  if (words.some((word) => word.endsWith(".jsonl.gz"))) {
    return words.some((word) => recordings.test(basename(word))) ? [] : undefined;
  }
  const files = readdirSync(dirname(replay)).filter((file) => recordings.test(file));
  return files.length === 0 ? undefined : files.map((file) => join(dirname(replay), file));
}

/** Data Lake recordings need an account with a hierarchical namespace. */
function endpoints(urls, isHierarchical) {
  const all = isHierarchical ? ["blob", "dfs"] : ["blob", "queue", "table", "file"];
  const services = all.filter((service) => service in urls);
  return Object.fromEntries(
    services.map((service) => [`REPLAY_${service.toUpperCase()}`, `${urls[service]}/${account}`]),
  );
}

/** One result file per run: `--out a.json` becomes a-plain.json and a-versions.json. */
function wordsFor(name) {
  return words.map((word, index) => {
    if (words[index - 1] !== "--out") return word;
    const { dir, name: stem, ext } = parse(word);
    return join(dir, `${stem}-${name}${ext}`);
  });
}

/** Soft delete of blobs is a service property, not an account setting. */
async function turnSoftDeleteOn(url) {
  const policy = "<Enabled>true</Enabled><Days>7</Days>";
  const body = `<StorageServiceProperties><DeleteRetentionPolicy>${policy}</DeleteRetentionPolicy></StorageServiceProperties>`;
  const answer = await fetch(`${url}/${account}/?restype=service&comp=properties&${accountSas()}`, {
    method: "PUT",
    headers: { "x-ms-version": "2021-12-02", "content-type": "application/xml" },
    body,
  });
  if (answer.status !== 202) console.error(`setting soft delete failed: ${answer.status}`);
}

function accountSas() {
  const fields = { sp: "rwdlacup", ss: "b", srt: "sco", se: "2099-01-01T00:00:00Z" };
  const { sp, ss, srt, se } = fields;
  const version = "2019-12-12";
  const text = [account, sp, ss, srt, "", se, "", "", version, ""].join("\n");
  const sig = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  return String(new URLSearchParams({ sv: version, ...fields, sig }));
}

// `npm run bench -- --explorer`: opens a container of a million blobs in Chromium and scrolls.
// Arguments: number of blobs (1000000), program (bin/etagere), data folder to keep.
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { ensureBuilt, ensureInstalled, root } from "../prepare.mjs";
import { serve } from "../serve.mjs";

const blobs = Number(process.argv[2] ?? 1_000_000);
const program = process.argv[3] ?? join(root, "bin", "etagere");
const kept = process.argv[4];
const account = "devstoreaccount1";
const connectionsMax = 32;
const openMillisecondsMax = 1000;
const rounds = 7;

if (process.argv[3] === undefined) {
  ensureInstalled();
  ensureBuilt();
}
const location = kept ?? mkdtempSync(join(tmpdir(), "etagere-million-"));
const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
const server = await serve({
  command: [process.execPath, program, "--location", location, ...ports],
  last: /admin is successfully listening/,
});
const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
let browser;
try {
  await fill();
  browser = await chromium.launch({
    executablePath: process.env["ETAGERE_CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const opened = await measureOpening();
  await measureScrolling();
  if (opened > openMillisecondsMax) process.exitCode = 1;
} finally {
  await browser?.close();
  agent.destroy();
  await server.stop();
  if (kept === undefined) rmSync(location, { recursive: true, force: true });
}

async function fill() {
  const { query } = await (
    await fetch(`${server.urls.admin}/admin/v1/sas`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-etagere-admin": "1" },
      body: JSON.stringify({ kind: "account", account, minutes: 600 }),
    })
  ).json();
  const began = performance.now();
  const status = await put(`${account}/million?restype=container&${query}`);
  if (status === 409) return;
  let next = 0;
  const work = async () => {
    for (let index = next++; index < blobs; index = next++) {
      await put(`${account}/million/blob-${String(index).padStart(8, "0")}.txt?${query}`);
    }
  };
  await Promise.all(Array.from({ length: connectionsMax }, work));
  console.log(`put ${blobs} blobs: ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

function put(path) {
  const headers = { "x-ms-blob-type": "BlockBlob", "x-ms-version": "2024-11-04" };
  return new Promise((resolve, reject) => {
    const url = `${server.urls.blob}/${path}`;
    const sent = request(url, { method: "PUT", agent, headers }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    });
    sent.on("error", reject).end(path.includes("restype") ? undefined : "x");
  });
}

/** Time from navigation to the first row, each time with an empty cache. */
async function measureOpening() {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.addInitScript(`
      new MutationObserver((_, watcher) => {
        if (!document.querySelector(".grid-body .grid-row .name")) return;
        watcher.disconnect();
        requestAnimationFrame(() => { globalThis.firstRowAt = performance.now(); });
      }).observe(document, { childList: true, subtree: true });
    `);
    await page.goto(`${server.urls.admin}/#/blobs/${account}/million`);
    await page.waitForFunction(() => globalThis.firstRowAt > 0);
    times.push(await page.evaluate("globalThis.firstRowAt"));
    await context.close();
  }
  const middle = times.toSorted((one, other) => one - other)[Math.floor(rounds / 2)];
  const all = times.map((time) => time.toFixed(0)).join(", ");
  console.log(`first row after ${middle.toFixed(0)} ms (median of ${all})`);
  return middle;
}

/** Scrolls for 8 s; reports frame durations and the number of rendered rows. */
async function measureScrolling() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${server.urls.admin}/#/blobs/${account}/million`);
  await page.waitForSelector(".grid-body .grid-row .name");
  const result = await page.evaluate(`new Promise((resolve) => {
    const body = document.querySelector(".grid-body");
    const frames = [];
    const began = performance.now();
    let last = began;
    let rowsMost = 0;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      rowsMost = Math.max(rowsMost, body.querySelectorAll(".grid-row").length);
      body.scrollTop += 400;
      if (now - began < 8000) requestAnimationFrame(step);
      else resolve({ frames: frames.slice(1), rowsMost, reached: body.scrollTop });
    };
    requestAnimationFrame(step);
  })`);
  const frames = result.frames.toSorted((one, other) => one - other);
  const at = (part) => frames[Math.floor((frames.length - 1) * part)]?.toFixed(1);
  const rows = Math.floor(result.reached / 36);
  console.log(
    `scrolled ${rows} rows: frames of ${at(0.5)} ms (median), ${at(0.99)} ms (99 %), ` +
      `${at(1)} ms (longest); at most ${result.rowsMost} rows in the page`,
  );
}

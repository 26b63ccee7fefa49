import { expect, it } from "vitest";
import { queueService } from "../../src/queue/service.ts";
import { tableService } from "../../src/table/service.ts";
import { fileService } from "../../src/file/service.ts";
import type { SimBlob } from "../harness/sim-blob.ts";
import { simBlob } from "../harness/sim-blob.ts";
import { simService } from "../harness/sim-service.ts";
import { runSteps, usageOf } from "./quota-harness.ts";

const quotaBytes = 1_000_000;
const data = "d".repeat(5000);
const dayMilliseconds = 24 * 3_600_000;

type Send = (
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: string,
) => ReturnType<SimBlob["send"]>;

const sender =
  (sim: Pick<SimBlob, "send">): Send =>
  (method, path, headers = {}, body) =>
    sim.send({ method, path, headers, ...(body === undefined ? {} : { body }) });

/** In steps, because a store has timers that fire every few seconds. */
async function passDays(sim: SimBlob, days: number): Promise<void> {
  for (let day = 0; day < days; day += 3) {
    sim.clock.advance(3 * dayMilliseconds);
    await sim.reclaim();
  }
}

const blockBlob = { "x-ms-blob-type": "BlockBlob" };
const pageBlob = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "4096" };
const retention =
  "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>1</Days>" +
  "</DeleteRetentionPolicy></StorageServiceProperties>";
const ids = ["AA==", "BB=="];
const blockList = `<BlockList><Latest>${ids[0]}</Latest></BlockList>`;

it("counts blobs, their generations and uploads", async () => {
  const sim = await simBlob({ quotaBytes, versioning: true, containerSoftDeleteDays: 1 });
  const send = sender(sim);
  const steps = {
    container: () => send("PUT", "/ccc?restype=container"),
    retention: () => send("PUT", "/?restype=service&comp=properties", {}, retention),
    blob: () => send("PUT", "/ccc/a", blockBlob, data),
    overwrite: () => send("PUT", "/ccc/a", blockBlob, "short"),
    metadata: () => send("PUT", "/ccc/a?comp=metadata", { "x-ms-meta-one": "value" }),
    snapshot: () => send("PUT", "/ccc/a?comp=snapshot"),
    block: () => send("PUT", `/ccc/b?comp=block&blockid=${ids[0]}`, {}, data),
    sameBlock: () => send("PUT", `/ccc/b?comp=block&blockid=${ids[0]}`, {}, "shorter"),
    otherBlock: () => send("PUT", `/ccc/b?comp=block&blockid=${ids[1]}`, {}, data),
    blockList: () => send("PUT", "/ccc/b?comp=blocklist", {}, blockList),
    staged: () => send("PUT", `/ccc/staged?comp=block&blockid=${ids[0]}`, {}, data),
    append: () => send("PUT", "/ccc/log", { "x-ms-blob-type": "AppendBlob" }),
    appended: () => send("PUT", "/ccc/log?comp=appendblock", {}, data),
    pages: () => send("PUT", "/ccc/disk", pageBlob),
    page: () =>
      send(
        "PUT",
        "/ccc/disk?comp=page",
        { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" },
        "p".repeat(512),
      ),
    resize: () => send("PUT", "/ccc/disk?comp=properties", { "x-ms-blob-content-length": "1024" }),
    copy: () =>
      send("PUT", "/ccc/copy", { "x-ms-copy-source": "http://127.0.0.1/devstoreaccount1/ccc/a" }),
    deleted: () => send("DELETE", "/ccc/copy"),
    diskSnapshot: () => send("PUT", "/ccc/disk?comp=snapshot"),
    removed: () => send("DELETE", "/ccc/a", { "x-ms-delete-snapshots": "include" }),
  };
  const before = await runSteps(sim, steps);
  expect(before.counter).toBeGreaterThan(3 * data.length);
  await sim.reclaim();
  const { counter, counted } = await usageOf(sim);
  expect(counter).toBe(counted);
  await runSteps(sim, { container: () => send("DELETE", "/ccc?restype=container") });
  // Everything expires: the deleted states after a day, the upload after a week.
  await passDays(sim, 24);
  expect(await usageOf(sim)).toEqual({ counter: 0, counted: 0 });
});

it("counts the tree of a hierarchical account, also of deleted directories", async () => {
  const sim = await simBlob({ quotaBytes, hierarchicalNamespace: true });
  const send = sender(sim);
  const dfs = sender({ send: (call) => sim.sendToDfs(call) });
  await runSteps(sim, {
    filesystem: () => send("PUT", "/ccc?restype=container"),
    deep: () => send("PUT", "/ccc/one/two/three/file", blockBlob, data),
    created: () => dfs("PUT", "/ccc/one/log?resource=file"),
    appended: () => dfs("PATCH", "/ccc/one/log?action=append&position=0", {}, "appended"),
    large: () => dfs("PATCH", "/ccc/one/log?action=append&position=8", {}, data),
    flushed: () => dfs("PATCH", `/ccc/one/log?action=flush&position=${8 + data.length}`),
    pending: () =>
      dfs("PATCH", `/ccc/one/log?action=append&position=${8 + data.length}`, {}, "more"),
    renamed: () => dfs("PUT", "/ccc/moved", { "x-ms-rename-source": "/ccc/one" }),
    deleted: () => dfs("DELETE", "/ccc/moved?recursive=true"),
  });
  await sim.reclaim();
  await passDays(sim, 9);
  // The root directory is left.
  expect((await usageOf(sim)).counter).toBeLessThan(data.length);
  await runSteps(sim, { filesystem: () => send("DELETE", "/ccc?restype=container") });
  await sim.reclaim();
  expect(await usageOf(sim)).toEqual({ counter: 0, counted: 0 });
});

it.each([true, false])(
  "counts blocks and appended data once when they become content (hierarchical: %s)",
  async (hierarchicalNamespace) => {
    // Nothing would fit if the bytes counted twice until the reclaim job has run.
    const length = 12_000;
    const sim = await simBlob({ quotaBytes: length + 100, hierarchicalNamespace });
    const send = sender(sim);
    const dfs = sender({ send: (call) => sim.sendToDfs(call) });
    const half = "h".repeat(length / 2);
    const [one, two] = ["AAAA", "AAAB"];
    const list = `<BlockList><Latest>${one}</Latest><Latest>${two}</Latest></BlockList>`;
    const append = (position: number, query = "") =>
      dfs("PATCH", `/ccc/log?action=append&position=${position}${query}`, {}, half);
    const file = {
      created: () => dfs("PUT", "/ccc/log?resource=file"),
      first: () => append(0),
      second: () => append(length / 2),
      flushed: () => dfs("PATCH", `/ccc/log?action=flush&position=${length}`),
    };
    await runSteps(sim, { filesystem: () => send("PUT", "/ccc?restype=container") });
    const empty = (await usageOf(sim)).counter;
    const expectOnce = async () => {
      const once = { counter: length + empty, counted: length + empty };
      expect(await usageOf(sim)).toEqual(once);
      await sim.reclaim();
      expect(await usageOf(sim)).toEqual(once);
    };
    await runSteps(sim, file);
    await expectOnce();
    await runSteps(sim, { deleted: () => dfs("DELETE", "/ccc/log"), ...file });
    await expectOnce();
    await runSteps(sim, {
      deleted: () => dfs("DELETE", "/ccc/log"),
      created: file.created,
      first: file.first,
      atOnce: () => append(length / 2, "&flush=true"),
    });
    await expectOnce();
    await runSteps(sim, {
      deleted: () => dfs("DELETE", "/ccc/log"),
      block: () => send("PUT", `/ccc/b?comp=block&blockid=${one}`, {}, half),
      otherBlock: () => send("PUT", `/ccc/b?comp=block&blockid=${two}`, {}, half),
      blockList: () => send("PUT", "/ccc/b?comp=blocklist", {}, list),
    });
    await expectOnce();
    await runSteps(sim, { deleted: () => send("DELETE", "/ccc/b") });
    await sim.reclaim();
    expect(await usageOf(sim)).toEqual({ counter: empty, counted: empty });
  },
);

const message = (text: string): string =>
  `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;

it("counts messages until they are deleted, cleared or expired", async () => {
  const sim = await simService(queueService, { account: { quotaBytes } });
  const send = sender(sim);
  let receipt: readonly string[] = [];
  const before = await runSteps(sim, {
    queue: () => send("PUT", "/qqq"),
    put: () => send("POST", "/qqq/messages", {}, message("first")),
    second: () => send("POST", "/qqq/messages?messagettl=60", {}, message("second one")),
    get: async () => {
      const got = await send("GET", "/qqq/messages");
      const part = (name: string): string =>
        new RegExp(`<${name}>(.*?)<`).exec(got.body)?.[1] ?? "";
      receipt = [part("MessageId"), part("PopReceipt")];
      return got;
    },
    update: () => {
      const [id = "", pop = ""] = receipt;
      const query = `popreceipt=${encodeURIComponent(pop)}&visibilitytimeout=0`;
      return send("PUT", `/qqq/messages/${id}?${query}`, {}, message("longer text"));
    },
  });
  expect(before.counter).toBe("longer text".length + "second one".length);
  sim.clock.advance(3_600_000);
  await sim.reclaim();
  expect(await usageOf(sim)).toEqual({
    counter: "longer text".length,
    counted: "longer text".length,
  });
  await runSteps(sim, { clear: () => send("DELETE", "/qqq/messages") });
  await sim.reclaim();
  expect(await usageOf(sim)).toEqual({ counter: 0, counted: 0 });
  await runSteps(sim, {
    put: () => send("POST", "/qqq/messages", {}, message("again")),
    delete: () => send("DELETE", "/qqq"),
  });
  await sim.reclaim();
  expect(await usageOf(sim)).toEqual({ counter: 0, counted: 0 });
});

const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };
const entity = (row: string, text: string): string =>
  JSON.stringify({ PartitionKey: "p", RowKey: row, Text: text });

it("counts entities", async () => {
  const sim = await simService(tableService, { account: { quotaBytes } });
  const send = sender(sim);
  const at = "/ttt(PartitionKey='p',RowKey='1')";
  const before = await runSteps(sim, {
    table: () => send("POST", "/Tables", json, JSON.stringify({ TableName: "ttt" })),
    insert: () => send("POST", "/ttt", json, entity("1", "text")),
    merge: () => send("MERGE", at, json, JSON.stringify({ Other: data.slice(0, 900) })),
    replace: () => send("PUT", at, json, JSON.stringify({ Text: "x" })),
    second: () => send("PUT", "/ttt(PartitionKey='p',RowKey='2')", json, JSON.stringify({ A: 1 })),
    delete: () => send("DELETE", at, { ...json, "if-match": "*" }),
  });
  expect(before.counter).toBeGreaterThan(0);
  await runSteps(sim, { table: () => send("DELETE", "/Tables('ttt')", json) });
  await sim.reclaim();
  expect(await usageOf(sim)).toEqual({ counter: 0, counted: 0 });
});

const file = { "x-ms-type": "file", "x-ms-content-length": "20000" };
const range = (from: number, length: number) => ({
  "x-ms-write": "update",
  "x-ms-range": `bytes=${from}-${from + length - 1}`,
});

it("counts the written ranges of files, also in share snapshots", async () => {
  const sim = await simService(fileService, { account: { quotaBytes }, binaryBodies: true });
  const send = sender(sim);
  const before = await runSteps(sim, {
    share: () => send("PUT", "/sss?restype=share"),
    create: () => send("PUT", "/sss/f", file),
    write: () => send("PUT", "/sss/f?comp=range", range(0, 5000), data),
    overlapping: () => send("PUT", "/sss/f?comp=range", range(4000, 5000), data),
    snapshot: () => send("PUT", "/sss?restype=share&comp=snapshot"),
    afterSnapshot: () => send("PUT", "/sss/f?comp=range", range(10_000, 100), data.slice(0, 100)),
    clear: () =>
      send("PUT", "/sss/f?comp=range", { "x-ms-write": "clear", "x-ms-range": "bytes=0-511" }),
    metadata: () => send("PUT", "/sss/f?comp=metadata", { "x-ms-meta-one": "value" }),
    shorter: () => send("PUT", "/sss/f?comp=properties", { "x-ms-content-length": "2000" }),
  });
  expect(before.counter).toBeGreaterThan(9000);
  await runSteps(sim, {
    file: () => send("DELETE", "/sss/f"),
    share: () => send("DELETE", "/sss?restype=share", { "x-ms-delete-snapshots": "include" }),
  });
  await sim.reclaim();
  expect(await usageOf(sim)).toEqual({ counter: 0, counted: 0 });
});

import { expect, it } from "vitest";
import { fileService } from "../../src/file/service.ts";
import { queueService } from "../../src/queue/service.ts";
import { tableService } from "../../src/table/service.ts";
import { simBlob } from "../harness/sim-blob.ts";
import { simService, type SimResponse, type SimService } from "../harness/sim-service.ts";
import { usageOf } from "./quota-harness.ts";

const quotaBytes = 10_000;
const text = "d".repeat(6000);
const blockBlob = { "x-ms-blob-type": "BlockBlob" };

function expectRefused({ status, code, body }: SimResponse): void {
  expect([status, code]).toEqual([503, "ServerBusy"]);
  expect(body).toContain("Ingress is over the account limit.");
}

/** Sends a write that does not fit, and verifies that it changed nothing. */
async function expectNoChange(sim: SimService, write: () => Promise<SimResponse>): Promise<void> {
  const before = await usageOf(sim);
  expectRefused(await write());
  expect(await usageOf(sim)).toEqual(before);
}

it("rejects blobs beyond the quota, until others are deleted", async () => {
  const sim = await simBlob({ quotaBytes });
  const put = (name: string, body: string) =>
    sim.send({ method: "PUT", path: `/ccc/${name}`, headers: blockBlob, body });
  const get = (name: string) => sim.send({ method: "GET", path: `/ccc/${name}` });
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  expect((await put("a", text)).status).toBe(201);
  await expectNoChange(sim, () => put("b", text));
  expect((await get("b")).status).toBe(404);
  expect((await put("exact", "d".repeat(4000))).status).toBe(201);
  await expectNoChange(sim, () => put("more", "d"));
  // Less or equal is no growth, and reads always work.
  expect((await put("a", text.toLowerCase())).status).toBe(201);
  expect((await get("a")).body).toBe(text);
  const others: readonly (readonly [string, Record<string, string>, string])[] = [
    ["/ccc/c?comp=block&blockid=AA==", {}, "block"],
    ["/ccc/a?comp=snapshot", {}, ""],
    ["/ccc/a?comp=metadata", { "x-ms-meta-long": "value" }, ""],
    ["/ccc/d", { "x-ms-copy-source": "http://127.0.0.1/devstoreaccount1/ccc/a" }, ""],
    ["/ccc/p", { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" }, ""],
  ];
  for (const [path, headers, body] of others) {
    await expectNoChange(sim, () => sim.send({ method: "PUT", path, headers, body }));
  }
  const lease = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
  const leased = await sim.send({ method: "PUT", path: "/ccc/exact?comp=lease", headers: lease });
  expect(leased.status).toBe(201);
  expect((await sim.send({ method: "DELETE", path: "/ccc/a" })).status).toBe(202);
  expect((await put("b", text)).status).toBe(201);
});

it("does not limit an account without a quota", async () => {
  const sim = await simBlob();
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  const call = { method: "PUT", path: "/ccc/a", headers: blockBlob, body: text };
  expect((await sim.send(call)).status).toBe(201);
  expect((await usageOf(sim)).counter).toBe(0);
});

it("rejects messages, and lets clients get and delete them", async () => {
  const sim = await simService(queueService, { account: { quotaBytes } });
  await sim.send({ method: "PUT", path: "/qqq" });
  const body = `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;
  const put = () => sim.send({ method: "POST", path: "/qqq/messages", body });
  expect((await put()).status).toBe(201);
  await expectNoChange(sim, put);
  expect((await sim.send({ method: "GET", path: "/qqq/messages" })).status).toBe(200);
  expect((await sim.send({ method: "DELETE", path: "/qqq/messages" })).status).toBe(204);
  await sim.reclaim();
  expect((await put()).status).toBe(201);
});

const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };

it("rejects entities, and a transaction as a whole", async () => {
  const sim = await simService(tableService, { account: { quotaBytes } });
  const create = { method: "POST", path: "/Tables", headers: json, body: '{"TableName":"ttt"}' };
  expect((await sim.send(create)).status).toBe(201);
  const put = (row: string, value = text) => {
    const body = JSON.stringify({ Text: value });
    const path = `/ttt(PartitionKey='p',RowKey='${row}')`;
    return sim.send({ method: "PUT", path, headers: json, body });
  };
  expect((await put("1")).status).toBe(204);
  const before = await usageOf(sim);
  const refused = await put("2");
  expect([refused.status, refused.body]).toEqual([503, expect.stringContaining("ServerBusy")]);
  expect(await usageOf(sim)).toEqual(before);
  const parts = ["3", "4"].map((row) =>
    [
      "--changeset_1",
      "Content-Type: application/http",
      "Content-Transfer-Encoding: binary",
      "",
      `PUT http://127.0.0.1/devstoreaccount1/ttt(PartitionKey='p',RowKey='${row}') HTTP/1.1`,
      "Content-Type: application/json",
      "",
      JSON.stringify({ Text: "d".repeat(2000) }),
      "",
    ].join("\r\n"),
  );
  const inner = [...parts, "--changeset_1--", ""].join("\r\n");
  const head = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n";
  const batch = await sim.send({
    method: "POST",
    path: "/$batch",
    headers: { "content-type": "multipart/mixed; boundary=batch_1" },
    body: `${head}${inner}--batch_1--\r\n`,
  });
  expect(batch.status).toBe(503);
  expect(await usageOf(sim)).toEqual(before);
  const remove = { ...json, "if-match": "*" };
  const path = "/ttt(PartitionKey='p',RowKey='1')";
  expect((await sim.send({ method: "DELETE", path, headers: remove })).status).toBe(204);
  expect((await put("2")).status).toBe(204);
});

it("rejects ranges of files, and lets clients delete files", async () => {
  const sim = await simService(fileService, { account: { quotaBytes }, binaryBodies: true });
  await sim.send({ method: "PUT", path: "/sss?restype=share" });
  const headers = { "x-ms-type": "file", "x-ms-content-length": "100000" };
  // The length of a file takes no space.
  for (const path of ["/sss/f", "/sss/g"]) {
    expect((await sim.send({ method: "PUT", path, headers })).status).toBe(201);
  }
  const write = (name: string) =>
    sim.send({
      method: "PUT",
      path: `/sss/${name}?comp=range`,
      headers: { "x-ms-write": "update", "x-ms-range": "bytes=0-5999" },
      body: text,
    });
  expect((await write("f")).status).toBe(201);
  await expectNoChange(sim, () => write("g"));
  expect((await write("f")).status).toBe(201);
  expect((await sim.send({ method: "DELETE", path: "/sss/f" })).status).toBe(202);
  expect((await write("g")).status).toBe(201);
});

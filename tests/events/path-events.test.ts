import { beforeEach, describe, expect, test } from "vitest";

import { loggedEvents, startEventLog } from "../harness/event-log.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;

async function open(hierarchicalNamespace: boolean): Promise<void> {
  sim = await simBlob({ hierarchicalNamespace });
  await startEventLog(sim.store);
  await send({ method: "PUT", path: "/lake?resource=filesystem" });
}

async function send(call: RawCall): Promise<void> {
  const { status, code } = await sim.sendToDfs(call);
  expect({ call, status, code }).toMatchObject({ status: expect.toSatisfy((n) => n < 300) });
}

async function texts(): Promise<readonly string[]> {
  const events = await loggedEvents(sim.store);
  return events.map(({ type, api, path, source }) =>
    [`${type}/${api}`, ...(source ? [source.path] : []), path].join(" "),
  );
}

describe("events of a hierarchical account", () => {
  beforeEach(() => open(true));

  test("name creations, flushes, renames and deletions of paths", async () => {
    await send({ method: "PUT", path: "/lake/d?resource=directory" });
    await send({ method: "PUT", path: "/lake/d/f?resource=file" });
    await send({ method: "PATCH", path: "/lake/d/f?action=append&position=0", body: "hello" });
    await send({ method: "PATCH", path: "/lake/d/f?action=flush&position=5" });
    await send({ method: "PATCH", path: "/lake/d/f?action=append&position=5", body: "more" });
    await send({ method: "PATCH", path: "/lake/d/f?action=flush&position=9&close=true" });
    const from = (path: string) => ({ "x-ms-rename-source": `/lake/${path}` });
    await send({ method: "PUT", path: "/lake/d/g", headers: from("d/f") });
    await send({ method: "PUT", path: "/lake/e", headers: from("d") });
    await send({ method: "DELETE", path: "/lake/e/g" });
    await send({ method: "DELETE", path: "/lake/e?recursive=true" });
    expect(await texts()).toEqual([
      "DirectoryCreated/CreateDirectory d",
      "BlobCreated/CreateFile d/f",
      "BlobCreated/FlushWithClose d/f",
      "BlobRenamed/RenameFile d/f d/g",
      "DirectoryRenamed/RenameDirectory d e",
      "BlobDeleted/DeleteFile e/g",
      "DirectoryDeleted/DeleteDirectory e",
    ]);
    const events = await loggedEvents(sim.store);
    expect(events[2]?.contentLength).toBe(9);
    expect(events[6]?.recursive).toBe(true);
  });

  test("name a rename over a file once, as the rename", async () => {
    await send({ method: "PUT", path: "/lake/a?resource=file" });
    await send({ method: "PUT", path: "/lake/b?resource=file" });
    await send({ method: "PUT", path: "/lake/b", headers: { "x-ms-rename-source": "/lake/a" } });
    expect(await texts()).toEqual([
      "BlobCreated/CreateFile a",
      "BlobCreated/CreateFile b",
      "BlobRenamed/RenameFile a b",
    ]);
  });

  test("name a file that expires, when it is removed", async () => {
    const headers = { "x-ms-expiry-option": "RelativeToNow", "x-ms-expiry-time": "60000" };
    await send({ method: "PUT", path: "/lake/d?resource=directory" });
    await send({ method: "PUT", path: "/lake/d/f?resource=file", headers });
    sim.clock.advance(120_000);
    await sim.reclaim();
    expect((await texts()).at(-1)).toBe("BlobDeleted/DeleteBlob d/f");
  });
});

describe("events of the Data Lake API on a flat account", () => {
  beforeEach(() => open(false));

  test("name each blob that is copied or deleted", async () => {
    await send({ method: "PUT", path: "/lake/d/f?resource=file" });
    await send({ method: "PUT", path: "/lake/d/g?resource=file" });
    await send({ method: "PUT", path: "/lake/e", headers: { "x-ms-rename-source": "/lake/d" } });
    await send({ method: "DELETE", path: "/lake/e?recursive=true" });
    const found = await texts();
    expect(found.filter((text) => /[fg]$/.test(text)).toSorted()).toEqual([
      "BlobCreated/CopyBlob e/f",
      "BlobCreated/CopyBlob e/g",
      "BlobCreated/CreateFile d/f",
      "BlobCreated/CreateFile d/g",
      "BlobDeleted/DeleteBlob d/f",
      "BlobDeleted/DeleteBlob d/g",
      "BlobDeleted/DeleteBlob e/f",
      "BlobDeleted/DeleteBlob e/g",
    ]);
  });
});

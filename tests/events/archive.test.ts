import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { expect, test } from "vitest";
import { developmentAccountName as account } from "../../src/account/settings.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { placeOf } from "../harness/test-store.ts";
import { webhookReceiver } from "./webhook-receiver.ts";

const folder = temporaryFolder();

async function admin(server: EtagereServer, method: string, path: string, body?: object) {
  const answer = await fetch(`${server.adminUrl}/admin/v1/subscriptions${path}`, {
    method,
    headers: { "x-etagere-admin": "1", "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

test("archives contain subscriptions, with keys also those to webhooks", async () => {
  await using receiver = await webhookReceiver();
  const options = { ...freePorts, noSmb: true, eventWebhooks: `${receiver.url}/` };
  await using first = await start({ ...options, ...placeOf({}) });
  const filter = { operatorType: "NumberLessThan", key: "data.contentLength", value: 100 };
  const hook = {
    destination: { webhook: `${receiver.url}/?code=1`, secret: "a-secret-text" },
    advancedFilters: [filter],
    subjectEndsWith: ".txt",
  };
  await admin(first, "PUT", `/${account}/hook`, hook);
  await admin(first, "PUT", `/${account}/queue`, { destination: { queue: "events" } });
  await admin(first, "PATCH", `/${account}/queue`, { isPaused: true });
  const files = [true, false].map((withKeys) => ({ withKeys, file: join(folder, `${withKeys}`) }));
  for (const { withKeys, file } of files) await first.export(file, { withKeys });
  for (const { withKeys, file } of files) {
    await using second = await start({ ...options, ...placeOf({}) });
    await second.load(file);
    const { subscriptions } = await admin(second, "GET", "");
    const names = (subscriptions as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(withKeys ? ["hook", "queue"] : ["queue"]);
    expect((subscriptions as object[]).at(-1)).toMatchObject({ isPaused: true });
    const service = BlobServiceClient.fromConnectionString(second.connectionString);
    const { containerClient } = await service.createContainer("box");
    const before = receiver.requests.length;
    for (const name of ["a.txt", "b.png"]) await containerClient.uploadBlockBlob(name, "x", 1);
    if (!withKeys) continue;
    await expect.poll(() => receiver.requests.length).toBe(before + 1);
    expect(receiver.requests.at(-1)).toMatchObject({
      path: "/?code=1",
      headers: { "x-etagere-signature": expect.stringMatching(/^sha256=/) },
    });
  }
});

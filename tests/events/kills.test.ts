import { expect, test } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { readAdminAddress } from "../../src/server/admin-address.ts";
import { startChild, type ChildServer } from "../harness/child-server.ts";
import { rawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { storeFlags } from "../harness/test-store.ts";
import { webhookReceiver } from "./webhook-receiver.ts";
import { inForm } from "../harness/long-form.ts";

const rounds = inForm(1, 3);
/** The request during which the server is killed: the receiver has the event, the server does not
 *  know it. */
const fatalRequest = 25;
const uploadsMax = 5000;

async function admin(location: string, method: string, path: string, body: object) {
  const address = await readAdminAddress(location);
  return fetch(`${address?.url}/admin/v1/${path}`, {
    method,
    headers: {
      "x-etagere-admin": "1",
      "content-type": "application/json",
      authorization: `Bearer ${address?.token}`,
    },
    body: JSON.stringify(body),
  });
}

/** Uploads blobs until the server is gone; returns the names that it acknowledged. */
async function uploadUntilGone(server: ChildServer, prefix: string): Promise<readonly string[]> {
  const client = rawClient(server.blobUrl);
  const names: string[] = [];
  const headers = { "x-ms-blob-type": "BlockBlob" };
  for (let at = 0; at < uploadsMax; at += 1) {
    const path = `/box/${prefix}${at}`;
    const call = { method: "PUT", path, body: "x", headers };
    const answer = await client.send(call).catch(() => undefined);
    if (answer?.status !== 201) return names;
    names.push(`${prefix}${at}`);
  }
  throw new Error("the server was not killed");
}

test.each([[[]], [["--workers=2"]]])(
  "no event is lost if the server is killed between delivery and commit (%j)",
  async (flags) => {
    const location = temporaryFolder();
    await using receiver = await webhookReceiver();
    const all = [`--eventWebhooks=${receiver.url}/`, ...storeFlags(location), ...flags];
    const acknowledged: string[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const server = await startChild(location, ["--silent", ...all]);
      if (round === 0) {
        const client = rawClient(server.blobUrl);
        await client.send({ method: "PUT", path: "/box?restype=container" });
        const path = `subscriptions/${developmentAccountName}/hook`;
        const body = { destination: { webhook: `${receiver.url}/` } };
        expect((await admin(location, "PUT", path, body)).status).toBe(201);
      }
      if (round === rounds) {
        const answer = await admin(location, "POST", "events/settled", { timeoutSeconds: 60 });
        expect(await answer.json()).toEqual({ settled: true, waiting: [] });
        await server.kill("SIGTERM");
        break;
      }
      let requests = 0;
      receiver.answer = (_, response) => {
        requests += 1;
        if (requests < fatalRequest) response.end();
        else if (requests === fatalRequest) void server.kill("SIGKILL");
      };
      acknowledged.push(...(await uploadUntilGone(server, `r${round}-`)));
      await server.exited;
      receiver.answer = undefined;
    }
    const received = new Set(receiver.events().map(({ subject }) => subject.split("/blobs/")[1]));
    expect(acknowledged.length).toBeGreaterThan(rounds * 10);
    expect(acknowledged.filter((name) => !received.has(name))).toEqual([]);
  },
  180_000,
);

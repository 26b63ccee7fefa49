import { Agent } from "node:http";
import { expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";

const held = testServer();
const clients = 16;
const winsWanted = 400;

/** Reads the ETag unless it is known, writes with If-Match, and starts again after 412. */
async function changeInALoop(client: RawClient, path: string, isOver: () => boolean) {
  let wins = 0;
  let etag: string | undefined;
  while (!isOver()) {
    etag ??= String((await client.send({ method: "HEAD", path })).headers["etag"]);
    const headers = { "if-match": etag, "x-ms-meta-wins": String(wins) };
    const { status, headers: received } = await client.send({
      method: "PUT",
      path: `${path}?comp=metadata`,
      headers,
    });
    expect([200, 412]).toContain(status);
    etag = status === 200 ? String(received["etag"]) : undefined;
    if (status === 200) wins += 1;
  }
  return wins;
}

it("every one of many clients that update one blob in a loop makes progress", async () => {
  const url = held.server.urls["blob"] ?? "";
  const container = freshName("fair");
  const path = `/${container}/hot`;
  await held.blob.send({ method: "PUT", path: `/${container}?restype=container` });
  await held.blob.send({ method: "PUT", path, headers: { "x-ms-blob-type": "BlockBlob" } });
  const agents = Array.from(
    { length: clients },
    () => new Agent({ keepAlive: true, maxSockets: 1 }),
  );
  let total = 0;
  const countedLoop = async (agent: Agent): Promise<number> => {
    const client = rawClient(url, agent);
    const counting: RawClient = {
      async send(call) {
        const answer = await client.send(call);
        if (call.method === "PUT" && answer.status === 200) total += 1;
        return answer;
      },
    };
    return changeInALoop(counting, path, () => total >= winsWanted);
  };
  const wins = await Promise.all(agents.map(countedLoop));
  for (const agent of agents) agent.destroy();
  const mean = wins.reduce((sum, each) => sum + each, 0) / clients;
  expect(Math.min(...wins)).toBeGreaterThanOrEqual(mean / 4);
});

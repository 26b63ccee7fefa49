import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startChild } from "../harness/child-server.ts";
import { rawClient } from "../harness/raw-client.ts";
import { container, KillClient } from "./workload.ts";

const rounds = Number(process.env["ETAGERE_KILL_ROUNDS"] ?? 4);
const clientsMax = 16;
const writesPerRound = 400;

/** 1 durable: what was acknowledged survives SIGKILL, whole; what was not is whole or absent. */
it(`survives ${rounds} kills under ${clientsMax} writing clients`, async () => {
  const location = await mkdtemp(join(tmpdir(), "etagere-kill-"));
  const clients = Array.from({ length: clientsMax }, (_, id) => new KillClient(id));
  let server = await startChild(location);
  await rawClient(server.blobUrl).send({ method: "PUT", path: `/${container}?restype=container` });
  for (let round = 1; round <= rounds; round += 1) {
    const client = rawClient(server.blobUrl);
    const before = total(clients);
    // The kill comes after a number of writes that differs from round to round, in mid-write.
    const enough = writesPerRound + ((round * 37) % 100);
    const killed = new Promise<void>((resolve) => {
      const running = clients.map((each) =>
        each.run(client, () => {
          if (total(clients) - before >= enough) resolve();
          return false;
        }),
      );
      void Promise.all(running).then(() => resolve());
    });
    await killed;
    await server.kill("SIGKILL");
    server = await startChild(location);
    const fresh = rawClient(server.blobUrl);
    const problems = await Promise.all(clients.map((each) => each.check(fresh)));
    expect(problems.flat()).toEqual([]);
  }
  await server.kill("SIGTERM");
  await rm(location, { recursive: true, force: true });
  console.log(`${rounds} kills, ${total(clients)} acknowledged writes, none lost`);
  expect(total(clients)).toBeGreaterThanOrEqual(rounds * writesPerRound);
}, 1_200_000);

function total(clients: readonly KillClient[]): number {
  return clients.reduce((sum, { acknowledgedWrites }) => sum + acknowledgedWrites, 0);
}

import { afterAll, beforeAll, expect, it } from "vitest";
import { yardstick } from "../../scripts/bench/guard/yardstick.ts";
import { rawClient } from "../harness/raw-client.ts";
import { queryInputs } from "./inputs/query-inputs.ts";
import { stallClients } from "./inputs/stall-client.ts";
import { stallMillisecondsMax, startStallServer, type StallServer } from "./loop-stall.ts";

/** The queries of one client or of many may delay other requests by the same time. */
const queriesAtOnce = 60;

let server: StallServer;

beforeAll(async () => {
  server = await startStallServer();
});
afterAll(() => server.stop());

it("ignores work of other processes", async () => {
  const blob = rawClient(server.urls.blob);
  await blob.send({ method: "PUT", path: "/made?restype=container" });
  const stall = await server.measure(async () => {
    const listed = blob.send({ method: "GET", path: "/made?restype=container&comp=list" });
    for (let turn = 0; turn < 20; turn += 1) yardstick();
    await listed;
  });
  expect(stall.cpuMilliseconds).toBeGreaterThan(0);
  expect(stall.cpuMilliseconds).toBeLessThan(100);
});

it("detects that the event loop is blocked for 150 ms", async () => {
  const stall = await server.measure(() => server.hold());
  expect(stall.cpuMilliseconds).toBeGreaterThan(145);
  expect(stall.cpuMilliseconds).toBeLessThan(250);
});

it(
  `${queriesAtOnce} queries at once do not block the event loop`,
  { timeout: 120_000 },
  async () => {
    const lines = queryInputs.find(({ name }) => name.includes("many empty lines"));
    const query = await lines?.prepare(stallClients(server));
    if (query === undefined) throw new Error("there is no such input");
    let shortest = Infinity;
    for (let run = 0; run < 3 && shortest >= stallMillisecondsMax; run += 1) {
      const { milliseconds } = await server.measure(() =>
        Promise.all(Array.from({ length: queriesAtOnce }, query)),
      );
      shortest = Math.min(shortest, milliseconds);
    }
    expect(shortest).toBeLessThan(stallMillisecondsMax);
  },
);

import { afterAll, beforeAll, expect, it } from "vitest";
import { yardstick } from "../../scripts/bench/guard/yardstick.ts";
import { rawClient } from "../harness/raw-client.ts";
import { startStallServer, type StallServer } from "./loop-stall.ts";

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

import { describe, expect, it } from "vitest";
import type { Clients, KillWorkload, State } from "./kill-workload.ts";
import { KillClient } from "./kill-client.ts";

const noClients = {} as Clients;

/**
 * One object; the server dies at a write, which is executed or not, and then reports the given
 * states, one for each look, and the last again and again.
 */
function workloadOf({ diesAt, found }: { diesAt: number; found: readonly State[] }): KillWorkload {
  let looks = 0;
  return {
    name: "workload",
    setUp: () => Promise.resolve(),
    next: (_key, _state, turn) => ({
      state: String(turn),
      writes: 1,
      send: () => (turn === diesAt ? Promise.reject(new Error("gone")) : Promise.resolve()),
    }),
    look: () => {
      const seen = found[Math.min(looks, found.length - 1)];
      looks += 1;
      return Promise.resolve((state) => state === seen);
    },
  };
}

async function problemsOf(found: readonly State[], objects = 1): Promise<readonly string[]> {
  const client = new KillClient(workloadOf({ diesAt: 5, found }), "client", objects);
  await client.run(noClients, () => undefined);
  expect(client.acknowledgedWrites).toBe(4);
  return client.check(noClients);
}

describe("1 durable: after a kill a client", () => {
  it("accepts the acknowledged state and that of the interrupted write", async () => {
    expect(await problemsOf(["4"])).toEqual([]);
    expect(await problemsOf(["5"])).toEqual([]);
  });

  it("rejects an earlier state, a missing object and an unknown state", async () => {
    expect(await problemsOf(["3"])).toEqual(["workload client-0 is none of 4, 5"]);
    expect(await problemsOf([undefined])).toHaveLength(1);
    expect(await problemsOf(["torn"])).toHaveLength(1);
  });

  it("looks again if the interrupted write took effect during the first look, once", async () => {
    expect(await problemsOf(["between 4 and 5", "5"])).toEqual([]);
    expect(await problemsOf(["torn", "torn", "5"])).toHaveLength(1);
  });

  it("looks once at an object without an interrupted write", async () => {
    expect(await problemsOf(["5", "4"], 2)).toEqual([]);
    expect(await problemsOf(["5", "torn", "4"], 2)).toEqual(["workload client-0 is none of 4"]);
  });

  it("does not take an error response for a kill", async () => {
    const refusing: KillWorkload = {
      ...workloadOf({ diesAt: 0, found: [undefined] }),
      next: () => ({
        state: "1",
        writes: 1,
        send: () => Promise.reject(new Error("PUT /x: 500 InternalError")),
      }),
    };
    const client = new KillClient(refusing, "client", 1);
    await expect(client.run(noClients, () => undefined)).rejects.toThrow("500");
  });
});

import { checkTimedLeases, type TimedLeaseInput } from "../timed-leases.ts";
import type { Sent } from "../wire.ts";
import { insist, isFine, type Setting, type Workload } from "../workload.ts";
import { guidFrom } from "./guid.ts";
import { acquireHeaders, ensureBlob, writeHeaders } from "./lease.ts";

const container = "/verify-timed-leases";
const name = "timed lease";
const blobs = 6;
/** Long enough for leases to expire. */
const epochsPerKey = 8;
/** The shortest allowed duration. */
const seconds = 15;

/** Leases that are not released: they must neither expire early nor stay. */
export const timedLease: Workload = {
  name,
  service: "blob",
  check: checkTimedLeases,
  async setUp({ wire }) {
    const path = `${container}?restype=container`;
    await insist(() => wire.send({ service: "blob", method: "PUT", path }), 201, 409);
  },
  client(setting) {
    const held = new Map<string, string>();
    return async () => {
      const key = `t${Math.floor(setting.epoch() / epochsPerKey)}-${setting.random.below(blobs)}`;
      await ensureBlob(setting, container, key);
      const input = choose(setting, held.get(key));
      const run = async () => {
        const { status } = await setting.wire.send(requestOf(`${container}/${key}`, input));
        return { status };
      };
      const output = await setting.recorder.record({ workload: name, key, input }, run);
      const mayHold = output === undefined || isFine(output.status);
      if (input.action === "acquire" && mayHold) held.set(key, input.lease);
      // The client learned that the lease is lost, or released it.
      if (input.lease !== undefined && input.action !== "acquire" && !mayHold) held.delete(key);
      if (input.action === "release") held.delete(key);
    };
  },
  finish: async () => undefined,
};

function choose({ random, unique }: Setting, held: string | undefined): TimedLeaseInput {
  const die = random.below(100);
  if (held === undefined) {
    return die < 60
      ? { action: "acquire", lease: guidFrom(unique()), seconds }
      : { action: "write" };
  }
  if (die < 70) return { action: "write", lease: held };
  if (die < 90) return { action: "write" };
  // Rarely, so that most leases expire.
  if (die < 91) return { action: "release", lease: held };
  return die < 92 ? { action: "renew", lease: held, seconds } : { action: "write", lease: held };
}

function requestOf(path: string, input: TimedLeaseInput): Sent {
  const action = { service: "blob", method: "PUT", path: `${path}?comp=lease` } as const;
  switch (input.action) {
    case "acquire":
      return { ...action, headers: acquireHeaders(input.lease, input.seconds) };
    case "renew":
    case "release": {
      const headers = { "x-ms-lease-action": input.action, "x-ms-lease-id": input.lease };
      return { ...action, headers };
    }
    case "write":
      return { service: "blob", method: "PUT", path, headers: writeHeaders(input.lease) };
  }
}

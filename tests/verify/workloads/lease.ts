import { checkLeases, type LeaseInput, type LeaseOutput } from "../leases.ts";
import type { Sent } from "../wire.ts";
import { insist, isFine, type Setting, type Workload } from "../workload.ts";
import { guidFrom } from "./guid.ts";

const leaseContainer = "/verify-leases";
const name = "lease";
const blobs = 4;
const firstValue = "";

/** Clients that alternate by an infinite lease, and others that write without it. */
export const lease: Workload = {
  name,
  service: "blob",
  check: checkLeases,
  async setUp({ wire }) {
    const path = `${leaseContainer}?restype=container`;
    await insist(() => wire.send({ service: "blob", method: "PUT", path }), 201, 409);
  },
  client(setting) {
    const held = new Map<string, string>();
    return async () => {
      const key = `l${setting.epoch()}-${setting.random.below(blobs)}`;
      await ensureBlob(setting, leaseContainer, key);
      const input = choose(setting, held.get(key));
      const output = await perform(setting, key, input);
      const mayHold = output === undefined || isFine(output.status);
      if (input.action === "acquire" && mayHold) held.set(key, input.lease);
      if (input.action === "release") held.delete(key);
    };
  },
  async finish(setting, keys) {
    for (const key of keys) await perform(setting, key, { action: "read" });
  },
};

function choose({ random, unique }: Setting, held: string | undefined): LeaseInput {
  const die = random.below(100);
  if (die < 15) return { action: "read" };
  if (held === undefined) {
    if (die < 70) return { action: "acquire", lease: guidFrom(unique()) };
    return die < 75 ? { action: "break" } : { action: "write", value: unique() };
  }
  if (die < 75) return { action: "write", value: unique(), lease: held };
  return die < 95 ? { action: "release", lease: held } : { action: "write", value: unique() };
}

/** Created empty and only if absent, so that the first value is known. */
export async function ensureBlob({ wire }: Setting, container: string, key: string): Promise<void> {
  const headers = { "x-ms-blob-type": "BlockBlob", "if-none-match": "*" };
  const path = `${container}/${key}`;
  const create: Sent = { service: "blob", method: "PUT", path, headers, body: firstValue };
  await insist(() => wire.send(create), 201, 409, 412);
}

function perform(setting: Setting, key: string, input: LeaseInput) {
  const run = async (): Promise<LeaseOutput> => {
    const { status, text } = await setting.wire.send(requestOf(`${leaseContainer}/${key}`, input));
    return input.action === "read" && status === 200 ? { status, value: text } : { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(path: string, input: LeaseInput): Sent {
  const on = { service: "blob", path } as const;
  const action = { service: "blob", method: "PUT", path: `${path}?comp=lease` } as const;
  switch (input.action) {
    case "read":
      return { ...on, method: "GET" };
    case "acquire":
      return { ...action, headers: acquireHeaders(input.lease, -1) };
    case "release": {
      const headers = { "x-ms-lease-action": "release", "x-ms-lease-id": input.lease };
      return { ...action, headers };
    }
    case "break": {
      const headers = { "x-ms-lease-action": "break", "x-ms-lease-break-period": "0" };
      return { ...action, headers };
    }
    case "write":
      return { ...on, method: "PUT", headers: writeHeaders(input.lease), body: input.value };
  }
}

export function acquireHeaders(id: string, seconds: number): Readonly<Record<string, string>> {
  return {
    "x-ms-lease-action": "acquire",
    "x-ms-lease-duration": String(seconds),
    "x-ms-proposed-lease-id": id,
  };
}

export function writeHeaders(id: string | undefined): Readonly<Record<string, string>> {
  const type = { "x-ms-blob-type": "BlockBlob" };
  return id === undefined ? type : { ...type, "x-ms-lease-id": id };
}

import { performance } from "node:perf_hooks";
import type { RawCall, RawClient } from "../harness/raw-client.ts";
import type { Clients, KillWorkload } from "../kill/kill-workload.ts";
import { KillClient } from "../kill/kill-client.ts";

/** Changes objects of all workloads until the time is over; reports the duration of each change. */
export async function runLoad(
  workloads: readonly KillWorkload[],
  clients: Clients,
  { isOver, onDone }: { isOver: () => boolean; onDone: (milliseconds: number) => void },
): Promise<readonly KillClient[]> {
  const timed = workloads.map((workload) => timedWorkload(workload, isOver, onDone));
  const running = timed.flatMap((workload) =>
    ["soak1", "soak2"].map((name) => new KillClient(workload, name, 5)),
  );
  await Promise.all(running.map((client) => client.run(clients, () => undefined)));
  return running;
}

function timedWorkload(
  workload: KillWorkload,
  isOver: () => boolean,
  onDone: (milliseconds: number) => void,
): KillWorkload {
  return {
    ...workload,
    next(key, state, turn) {
      const step = workload.next(key, state, turn);
      return {
        ...step,
        async send(clients) {
          if (isOver()) throw new Error("the time is over");
          const began = performance.now();
          await step.send(clients);
          onDone(performance.now() - began);
        },
      };
    },
  };
}

/** All resources, service by service. */
export async function deleteAll({ blob, tree, table, queue, file }: Clients): Promise<void> {
  for (const client of [blob, tree]) {
    for (const name of await namesIn(client, "/?comp=list", /<Name>(.*?)<\/Name>/g)) {
      await remove(client, { method: "DELETE", path: `/${name}?restype=container` });
    }
  }
  for (const name of await namesIn(queue, "/?comp=list", /<Name>(.*?)<\/Name>/g)) {
    await remove(queue, { method: "DELETE", path: `/${name}` });
  }
  for (const name of await namesIn(table, "/Tables", /"TableName":"(.*?)"/g)) {
    await remove(table, { method: "DELETE", path: `/Tables('${name}')` });
  }
  for (const name of await namesIn(file, "/?comp=list", /<Name>(.*?)<\/Name>/g)) {
    await remove(file, { method: "DELETE", path: `/${name}?restype=share` });
  }
}

async function namesIn(
  client: RawClient,
  path: string,
  pattern: RegExp,
): Promise<readonly string[]> {
  const headers = { accept: "application/json;odata=nometadata" };
  const { body } = await client.send({ method: "GET", path, headers });
  return [...body.toString().matchAll(pattern)].map(([, name = ""]) => name);
}

async function remove(client: RawClient, call: RawCall): Promise<void> {
  const { status, body } = await client.send(call);
  if (status >= 300) throw new Error(`${call.path}: ${status} ${body.toString()}`);
}

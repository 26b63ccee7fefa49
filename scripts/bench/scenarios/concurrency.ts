import { fill } from "../target.ts";
import type { Target } from "../target.ts";
import { fillBlobs } from "./blobs.ts";
import { ownNumber, sharedObjects, spread } from "./scenario.ts";
import type { Scenario, Site, Step, Worker } from "./scenario.ts";

/** Compare-and-swap on separate objects: every swap must succeed. */
async function swappingApart(target: Target, site: Site): Promise<{ step: Step }> {
  const pathOf = (number: number): string => `${site.name}/o${spread(site, number)}`;
  const etags: string[] = [];
  await fill({ target, service: "blob", count: sharedObjects }, async (client, index) => {
    const answer = await client.send({ method: "HEAD", path: pathOf(index), expect: 200 });
    etags[index] = answer.header("etag") ?? "";
  });
  let next = 0;
  const step: Step = async (worker) => {
    const turn = next++;
    const index = ownNumber(site, worker, turn);
    const path = `${pathOf(index)}?comp=metadata`;
    const headers = `If-Match: ${etags[index] ?? ""}\r\nx-ms-meta-n: ${turn}\r\n`;
    const answer = await worker.client.send({ method: "PUT", path, headers, expect: 200 });
    etags[index] = answer.header("etag") ?? "";
  };
  return { step };
}

/** Compare-and-swap on one object: a step is one success, however many 412 it took. */
async function swappingTogether(_: Target, { name }: Site): Promise<{ step: Step }> {
  const known = new WeakMap<Worker, string>();
  const object = `${name}/o0`;
  let next = 0;
  const step: Step = async (worker) => {
    const { client } = worker;
    while (!worker.isOver()) {
      let etag = known.get(worker);
      if (etag === undefined) {
        const seen = await client.send({ method: "HEAD", path: object, expect: 200 });
        etag = seen.header("etag") ?? "";
      }
      const path = `${object}?comp=metadata`;
      const headers = `If-Match: ${etag}\r\nx-ms-meta-n: ${next++}\r\n`;
      const put = { method: "PUT", path, headers, expect: 200, orElse: 412 };
      const answer = await client.send(put);
      if (answer.status === 200) {
        known.set(worker, answer.header("etag") ?? "");
        return true;
      }
      known.delete(worker);
    }
    return false;
  };
  return { step };
}

async function leasing(_: Target, site: Site): Promise<{ step: Step }> {
  let next = 0;
  const acquire = "x-ms-lease-action: acquire\r\nx-ms-lease-duration: 15\r\n";
  const step: Step = async (worker) => {
    const { client } = worker;
    const path = `${site.name}/o${spread(site, ownNumber(site, worker, next++))}?comp=lease`;
    const acquired = { method: "PUT", path, headers: acquire, expect: 201 };
    const id = (await client.send(acquired)).header("x-ms-lease-id") ?? "";
    const release = `x-ms-lease-action: release\r\nx-ms-lease-id: ${id}\r\n`;
    await client.send({ method: "PUT", path, headers: release, expect: 200 });
  };
  return { step };
}

const blob = { service: "blob", azurite: true, stored: sharedObjects, fill: fillBlobs } as const;

export const concurrencyScenarios: readonly Scenario[] = [
  { ...blob, name: "cas-hot", title: "CAS on one hot blob, wins", start: swappingTogether },
  { ...blob, name: "cas-1000", title: "CAS over 1,000 blobs", start: swappingApart },
  { ...blob, name: "lease", title: "lease acquire + release", start: leasing },
];

import { fill, once } from "../target.ts";
import type { Client, Target } from "../target.ts";
import type { Prepared, Scenario, Site, Step } from "./scenario.ts";

const message = `<QueueMessage><MessageText>${"QUJD".repeat(64)}</MessageText></QueueMessage>`;

async function createQueue(target: Target, { name }: Site): Promise<void> {
  await once(target, "queue", { method: "PUT", path: name, expect: 201 });
}

async function fillMessages(target: Target, site: Site): Promise<void> {
  await createQueue(target, site);
  await putMessages(target, site, site.stored);
}

async function putMessages(target: Target, site: Site, count: number): Promise<void> {
  await fill({ target, service: "queue", count }, (client) => put(client, site));
}

function put(client: Client, { name }: Site): Promise<unknown> {
  const headers = "Content-Type: application/xml\r\n";
  const path = `${name}/messages`;
  return client.send({ method: "POST", path, headers, body: message, expect: 201 });
}

/** Returns false if the queue has no visible message. */
async function takeOne(client: Client, { name }: Site): Promise<boolean> {
  const path = `${name}/messages?numofmessages=1&visibilitytimeout=60`;
  const answer = await client.send({ method: "GET", path, expect: 200 });
  const text = answer.body.toString("latin1");
  const id = /<MessageId>([^<]+)/.exec(text)?.[1];
  const receipt = /<PopReceipt>([^<]+)/.exec(text)?.[1];
  if (id === undefined || receipt === undefined) return false;
  const at = `${name}/messages/${id}?popreceipt=${encodeURIComponent(receipt)}`;
  await client.send({ method: "DELETE", path: at, expect: 204 });
  return true;
}

/** The queue shrinks during a run and is refilled before the next. */
function taking(target: Target, site: Site): Prepared {
  let taken = 0;
  const step: Step = async ({ client }) => {
    const found = await takeOne(client, site);
    if (found) taken += 1;
    return found;
  };
  const refill = async (): Promise<void> => {
    await putMessages(target, site, taken);
    taken = 0;
  };
  return { step, refill };
}

/** Keeps the number of stored messages constant. */
function cycling(site: Site): Step {
  return async ({ client }) => {
    await put(client, site);
    return takeOne(client, site);
  };
}

const queue = { service: "queue", azurite: true, fill: fillMessages } as const;

export const queueScenarios: readonly Scenario[] = [
  {
    ...queue,
    name: "q-put",
    title: "queue put",
    stored: 0,
    start: async (_, site) => ({ step: async ({ client }) => void (await put(client, site)) }),
  },
  {
    ...queue,
    name: "q-get-delete",
    title: "queue get + delete, 6,000 stored",
    stored: 6000,
    start: async (target, site) => taking(target, site),
  },
];

/** Only for `--growth`: in the comparison it would empty the short queue at once. */
export const queueCycle: Scenario = {
  ...queue,
  name: "q-put-get-delete",
  title: "queue put + get + delete",
  stored: 1000,
  start: async (_, site) => ({ step: cycling(site) }),
};

import { checkDeliveries, type QueueInput, type QueueOutput } from "../deliveries.ts";
import { headerOf, type Sent } from "../wire.ts";
import { insist, isFine, type Setting, type Workload } from "../workload.ts";

const name = "queue";
const queue = "verify-deliveries";
const visibilitySeconds = 1;
const hiddenSeconds = 2;
const perGetMax = 4;
const drainGetsMax = 5_000;

interface Got {
  readonly id: string;
  readonly text: string;
  readonly receipt: string;
}

/** Producers, and consumers that delete, extend the timeout of, or abandon messages. */
export const delivery: Workload = {
  name,
  service: "queue",
  check: checkDeliveries,
  setUp: ({ wire }) =>
    insist(() => wire.send({ service: "queue", method: "PUT", path: `/${queue}` }), 201, 204),
  client(setting) {
    /** Received and not deleted: used late, when the pop receipt may be invalid. */
    const kept: Got[] = [];
    return async () => {
      const { random, unique } = setting;
      const die = random.below(100);
      if (die < 40) {
        await perform(setting, { action: "put", text: unique() });
      } else if (die < 45 && kept.length > 0) {
        await remove(setting, kept.shift()!);
      } else {
        for (const message of await get(setting)) {
          const fate = random.below(100);
          if (fate < 70) await remove(setting, message);
          else if (fate < 80) await hide(setting, message);
          else if (fate < 85) await useTwice(setting, message);
          else kept.push(message);
        }
      }
    };
  },
  /** Receives and deletes until the queue is empty. */
  async finish(setting) {
    for (let gets = 0; gets < drainGetsMax; gets += 1) {
      const messages = await get(setting);
      for (const message of messages) await remove(setting, message);
      if (messages.length > 0) continue;
      const path = `/${queue}?comp=metadata`;
      const answer = await setting.wire.send({ service: "queue", method: "GET", path });
      if (headerOf(answer, "x-ms-approximate-messages-count") === "0") return;
    }
    throw new Error("messages remain that cannot be received");
  },
};

async function get(setting: Setting): Promise<readonly Got[]> {
  const count = 1 + setting.random.below(perGetMax);
  const query = `numofmessages=${count}&visibilitytimeout=${visibilitySeconds}`;
  const path = `/${queue}/messages?${query}`;
  let messages: readonly Got[] = [];
  await record(setting, { action: "get", seconds: visibilitySeconds }, async () => {
    const { status, text } = await setting.wire.send({ service: "queue", method: "GET", path });
    messages = isFine(status) ? messagesIn(text) : [];
    return { status, messages };
  });
  return messages;
}

async function remove(setting: Setting, { id, text, receipt }: Got): Promise<void> {
  const path = `/${queue}/messages/${id}?popreceipt=${encodeURIComponent(receipt)}`;
  const request: Sent = { service: "queue", method: "DELETE", path };
  await record(setting, { action: "delete", text, receipt }, async () => ({
    status: (await setting.wire.send(request)).status,
  }));
}

async function hide(setting: Setting, { id, text, receipt }: Got): Promise<void> {
  const query = `popreceipt=${encodeURIComponent(receipt)}&visibilitytimeout=${hiddenSeconds}`;
  const path = `/${queue}/messages/${id}?${query}`;
  const input: QueueInput = { action: "hide", text, receipt, seconds: hiddenSeconds };
  await record(setting, input, async () => {
    const answer = await setting.wire.send({ service: "queue", method: "PUT", path });
    return { status: answer.status, receipt: headerOf(answer, "x-ms-popreceipt") };
  });
}

/** The update returns a new receipt, so the old one must not delete. */
async function useTwice(setting: Setting, message: Got): Promise<void> {
  await hide(setting, message);
  await remove(setting, message);
}

function perform(setting: Setting, input: Extract<QueueInput, { action: "put" }>) {
  const body = `<QueueMessage><MessageText>${input.text}</MessageText></QueueMessage>`;
  const path = `/${queue}/messages`;
  return record(setting, input, async () => ({
    status: (await setting.wire.send({ service: "queue", method: "POST", path, body })).status,
  }));
}

function record(setting: Setting, input: QueueInput, run: () => Promise<QueueOutput>) {
  return setting.recorder.record({ workload: name, key: queue, input }, run);
}

function messagesIn(xml: string): readonly Got[] {
  return [...xml.matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)].map(([, inner = ""]) => {
    const field = (tag: string): string =>
      new RegExp(`<${tag}>(.*?)</${tag}>`, "s").exec(inner)?.[1] ?? "";
    return { id: field("MessageId"), text: field("MessageText"), receipt: field("PopReceipt") };
  });
}

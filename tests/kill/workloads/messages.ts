import { messageBody, messagesIn } from "../../harness/queue-messages.ts";
import { must, type KillWorkload, type State } from "../kill-workload.ts";

const messagesMax = 16;
const peekMax = 32;

interface Receipt {
  readonly id: string;
  readonly popReceipt: string;
}

/** By text. Without the response to a put there is no pop receipt: the queue is cleared. */
const receipts = new Map<string, Receipt>();

/**
 * Queues whose messages are put, and deleted with the pop receipt of the put; a state lists their
 * texts in order.
 */
export const messages: KillWorkload = {
  name: "queue",
  setUp: () => Promise.resolve(),
  next(key, state, turn) {
    const path = `/kills-${key}`;
    if (state === undefined) {
      return {
        state: "",
        writes: 1,
        async send({ queue }) {
          await must(queue, { method: "PUT", path }, 201, 204);
        },
      };
    }
    const texts = textsIn(state);
    const [oldest = ""] = texts;
    const receipt = receipts.get(oldest);
    if (texts.length < messagesMax && turn % 3 !== 0) return put(path, texts, `${key}.${turn}`);
    if (texts.length > 0 && receipt !== undefined) return remove(path, texts, receipt);
    return {
      state: "",
      writes: 1,
      async send({ queue }) {
        await must(queue, { method: "DELETE", path: `${path}/messages` }, 204);
      },
    };
  },
  async look({ queue }, key) {
    const path = `/kills-${key}/messages?peekonly=true&numofmessages=${peekMax}`;
    const { status, body } = await must(queue, { method: "GET", path }, 200, 404);
    const found = messagesIn(body.toString()).map(({ text }) => text);
    const counted = await countIn(queue, key);
    return (state) =>
      state === undefined
        ? status === 404
        : status === 200 && found.join() === state && counted === String(found.length);
  },
};

async function countIn(queue: Parameters<typeof must>[0], key: string): Promise<string> {
  const call = { method: "GET", path: `/kills-${key}?comp=metadata` };
  const { headers } = await must(queue, call, 200, 404);
  return String(headers["x-ms-approximate-messages-count"]);
}

function put(path: string, texts: readonly string[], text: string) {
  return {
    state: [...texts, text].join(),
    writes: 1,
    async send({ queue }: Parameters<KillWorkload["setUp"]>[0]) {
      const call = { method: "POST", path: `${path}/messages`, body: messageBody(text) };
      const { body } = await must(queue, call, 201);
      const xml = body.toString();
      const field = (name: string): string => new RegExp(`<${name}>(.*?)<`).exec(xml)?.[1] ?? "";
      receipts.set(text, { id: field("MessageId"), popReceipt: field("PopReceipt") });
    },
  };
}

function remove(path: string, [oldest = "", ...rest]: readonly string[], receipt: Receipt) {
  const { id, popReceipt } = receipt;
  return {
    state: rest.join(),
    writes: 1,
    async send({ queue }: Parameters<KillWorkload["setUp"]>[0]) {
      const query = `popreceipt=${encodeURIComponent(popReceipt)}`;
      await must(queue, { method: "DELETE", path: `${path}/messages/${id}?${query}` }, 204);
      receipts.delete(oldest);
    },
  };
}

function textsIn(state: NonNullable<State>): readonly string[] {
  return state === "" ? [] : state.split(",");
}

import { performance } from "node:perf_hooks";
import { messageBody, messagesIn, type SeenMessage } from "../harness/queue-messages.ts";
import type { RawAnswer, RawCall, RawClient } from "../harness/raw-client.ts";
import type { QueueEvent } from "./queue-history.ts";

export const queue = "/history";
const visibilitySeconds = 1;
const perGetMax = 8;

/** Producers and consumers of one queue, with the history they record. They end with the server. */
export class QueueWorkload {
  readonly events: QueueEvent[] = [];
  acknowledgedPuts = 0;
  #puts = 0;
  #turns = 0;

  async produce(client: RawClient, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#puts += 1;
      const text = `m${this.#puts}`;
      const place = this.events.push({ kind: "put", text, isAnswered: false }) - 1;
      const path = `${queue}/messages`;
      await must(client, { method: "POST", path, body: messageBody(text) }, 201);
      this.events[place] = { kind: "put", text, isAnswered: true };
      this.acknowledgedPuts += 1;
    }
  }

  /**
   * Deletes most messages, extends the timeout of some, and abandons the rest as if it had crashed.
   */
  async consume(client: RawClient, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      for (const message of await this.get(client)) {
        this.#turns += 1;
        if (this.#turns % 5 === 0) continue;
        if (this.#turns % 7 === 0) await this.#hide(client, message);
        else await this.remove(client, message);
      }
    }
  }

  async get(client: RawClient): Promise<readonly SeenMessage[]> {
    const count = 1 + (this.#turns % perGetMax);
    const query = `numofmessages=${count}&visibilitytimeout=${visibilitySeconds}`;
    const sent = performance.now();
    const call = { method: "GET", path: `${queue}/messages?${query}` };
    const messages = messagesIn((await must(client, call, 200)).body.toString());
    const answered = performance.now();
    const visibilityMilliseconds = 1000 * visibilitySeconds;
    for (const { text } of messages) {
      this.events.push({ kind: "delivery", text, sent, answered, visibilityMilliseconds });
    }
    return messages;
  }

  async remove(client: RawClient, message: SeenMessage): Promise<void> {
    const { text } = message;
    const event = { kind: "delete", text, answered: Infinity } as const;
    const place = this.events.push({ ...event, isAnswered: false }) - 1;
    const path = pathOf(message);
    const { status } = await must(client, { method: "DELETE", path }, 204, 400, 404);
    const answered = performance.now();
    // Rejected: another consumer received or deleted the message after the timeout.
    if (status === 204) this.events[place] = { ...event, answered, isAnswered: true };
  }

  async #hide(client: RawClient, message: SeenMessage): Promise<void> {
    const seconds = visibilitySeconds + 1;
    const hide = {
      kind: "hide",
      text: message.text,
      sent: performance.now(),
      visibilityMilliseconds: 1000 * seconds,
    } as const;
    const place = this.events.push({ ...hide, isAnswered: false }) - 1;
    const path = `${pathOf(message)}&visibilitytimeout=${seconds}`;
    const { status } = await must(client, { method: "PUT", path }, 204, 400, 404);
    if (status === 204) this.events[place] = { ...hide, isAnswered: true };
  }
}

function pathOf({ id, popReceipt }: SeenMessage): string {
  return `${queue}/messages/${id}?popreceipt=${encodeURIComponent(popReceipt)}`;
}

async function must(
  client: RawClient,
  call: RawCall,
  ...statuses: readonly number[]
): Promise<RawAnswer> {
  const answer = await client.send(call);
  if (statuses.includes(answer.status)) return answer;
  throw new Error(`${call.method} ${call.path}: ${answer.status} ${answer.body.toString()}`);
}

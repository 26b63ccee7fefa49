import type { SimQueue } from "./sim-queue.ts";
import type { SimResponse } from "./sim-service.ts";

/** A message of a response; missing elements are empty. */
export interface SeenMessage {
  readonly id: string;
  readonly text: string;
  readonly popReceipt: string;
  readonly dequeueCount: number;
  readonly inserted: number;
  readonly expires: number;
  readonly visible: number;
}

export function messagesIn(xml: string): readonly SeenMessage[] {
  return [...xml.matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)].map(([, inner = ""]) => {
    const field = (name: string): string =>
      new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(inner)?.[1] ?? "";
    return {
      id: field("MessageId"),
      text: field("MessageText"),
      popReceipt: field("PopReceipt"),
      dequeueCount: Number(field("DequeueCount")),
      inserted: Date.parse(field("InsertionTime")),
      expires: Date.parse(field("ExpirationTime")),
      visible: Date.parse(field("TimeNextVisible")),
    };
  });
}

export function messageBody(text: string): string {
  return `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;
}

/** The requests of a client of one queue. */
export class QueueCalls {
  readonly #sim: SimQueue;
  readonly #name: string;

  constructor(sim: SimQueue, name: string) {
    this.#sim = sim;
    this.#name = name;
  }

  create(headers: Readonly<Record<string, string>> = {}): Promise<SimResponse> {
    return this.#sim.send({ method: "PUT", path: `/${this.#name}`, headers });
  }

  delete(): Promise<SimResponse> {
    return this.#sim.send({ method: "DELETE", path: `/${this.#name}` });
  }

  async count(): Promise<number> {
    const answer = await this.#sim.send({ method: "GET", path: `/${this.#name}?comp=metadata` });
    return Number(answer.headers["x-ms-approximate-messages-count"]);
  }

  put(text: string, query = ""): Promise<SimResponse> {
    const path = `/${this.#name}/messages?${query}`;
    return this.#sim.send({ method: "POST", path, body: messageBody(text) });
  }

  async get(query = ""): Promise<readonly SeenMessage[]> {
    return messagesIn((await this.getAnswer(query)).body);
  }

  getAnswer(query = ""): Promise<SimResponse> {
    return this.#sim.send({ method: "GET", path: `/${this.#name}/messages?${query}` });
  }

  async peek(count = 32): Promise<readonly SeenMessage[]> {
    const answer = await this.getAnswer(`peekonly=true&numofmessages=${count}`);
    return messagesIn(answer.body);
  }

  remove({ id, popReceipt }: Pick<SeenMessage, "id" | "popReceipt">): Promise<SimResponse> {
    const path = `/${this.#name}/messages/${id}?popreceipt=${encodeURIComponent(popReceipt)}`;
    return this.#sim.send({ method: "DELETE", path });
  }

  update(
    { id, popReceipt }: Pick<SeenMessage, "id" | "popReceipt">,
    visibilitySeconds: number,
    text?: string,
  ): Promise<SimResponse> {
    const receipt = encodeURIComponent(popReceipt);
    const query = `popreceipt=${receipt}&visibilitytimeout=${visibilitySeconds}`;
    const path = `/${this.#name}/messages/${id}?${query}`;
    return this.#sim.send({
      method: "PUT",
      path,
      ...(text === undefined ? {} : { body: messageBody(text) }),
    });
  }

  clear(): Promise<SimResponse> {
    return this.#sim.send({ method: "DELETE", path: `/${this.#name}/messages` });
  }
}

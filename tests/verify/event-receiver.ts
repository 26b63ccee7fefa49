import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { SeenEvent } from "./change-events.ts";

interface Delivered {
  readonly subject: string;
  readonly data: { readonly clientRequestId?: string };
}

/** A webhook that keeps the events it gets. */
export class EventReceiver {
  readonly #server: Server;
  readonly events: SeenEvent[] = [];

  private constructor() {
    this.#server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        for (const { subject, data } of JSON.parse(
          Buffer.concat(chunks).toString(),
        ) as readonly Delivered[]) {
          this.events.push({ subject, request: data.clientRequestId ?? "" });
        }
        outgoing.end();
      });
    });
  }

  static async open(host = "127.0.0.1"): Promise<EventReceiver> {
    const receiver = new EventReceiver();
    receiver.#server.listen(0, host);
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it does not listen");
    return `http://${address.address}:${address.port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

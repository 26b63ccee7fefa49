import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a receiver got. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  /** Requests that were no handshakes. */
  readonly requests: readonly ReceivedRequest[];
  /** The events of all requests, in the order of their arrival. */
  events(): readonly ReceivedEvent[];
  /** Replaces the response to notifications; undefined: 200. */
  answer: ((request: ReceivedRequest, response: ServerResponse) => void) | undefined;
  readonly handshakes: readonly ReceivedRequest[];
  /** Whether it takes part in handshakes. */
  isWilling: boolean;
}

export interface ReceivedEvent {
  readonly id: string;
  readonly subject: string;
  readonly eventType?: string;
  readonly type?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A webhook that takes part in both handshakes. */
export async function webhookReceiver(): Promise<WebhookReceiver> {
  const requests: ReceivedRequest[] = [];
  const handshakes: ReceivedRequest[] = [];
  const receiver: Pick<WebhookReceiver, "answer" | "isWilling"> = {
    answer: undefined,
    isWilling: true,
  };
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const { method = "", url: path = "", headers } = message;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      if (receiver.isWilling && shakeHands(request, response)) return void handshakes.push(request);
      requests.push(request);
      if (receiver.answer === undefined) response.end();
      else receiver.answer(request, response);
    });
  });
  const url = await listening(server);
  const events = (): readonly ReceivedEvent[] =>
    requests.flatMap(({ body }) => JSON.parse(body) as ReceivedEvent[]);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const received = { url, requests, handshakes, events };
  return Object.assign(receiver, received, { [Symbol.asyncDispose]: close });
}

function shakeHands(request: ReceivedRequest, response: ServerResponse): boolean {
  const { method, headers, body } = request;
  if (method === "OPTIONS") {
    response.setHeader("WebHook-Allowed-Origin", headers["webhook-request-origin"] ?? "");
    response.end();
    return true;
  }
  if (headers["aeg-event-type"] !== "SubscriptionValidation") return false;
  const [event] = JSON.parse(body) as [{ data: { validationCode: string } }];
  response.end(JSON.stringify({ validationResponse: event.data.validationCode }));
  return true;
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

import { connect } from "node:net";
import type { Socket } from "node:net";

export interface Answer {
  readonly status: number;
  /** The header block as it came, to be searched only where a header matters. */
  readonly head: string;
  readonly body: Buffer;
}

interface Pending {
  readonly withoutBody: boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One keep-alive connection with one request under way. Written on bare sockets, because a client
 * library costs more than the servers that are measured.
 */
export class Connection {
  readonly #port: number;
  #socket: Socket | undefined;
  #pending: Pending | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(port: number) {
    this.#port = port;
  }

  async send(head: string, body?: Buffer): Promise<Answer> {
    const socket = this.#socket ?? (await this.#open());
    return new Promise((resolve, reject) => {
      this.#pending = { withoutBody: head.startsWith("HEAD "), resolve, reject };
      socket.cork();
      socket.write(head, "latin1");
      if (body !== undefined) socket.write(body);
      socket.uncork();
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
      socket.once("connect", () => {
        this.#socket = socket;
        resolve(socket);
      });
      socket.on("data", (chunk) => this.#take(chunk));
      socket.once("error", reject);
      socket.once("close", () => {
        this.#socket = undefined;
        const pending = this.#pending;
        this.#pending = undefined;
        pending?.reject(new Error("the server closed the connection"));
      });
    });
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // Large bodies come in hundreds of chunks: look at them only when enough is there.
    if (this.#bytes < this.#expected) return;
    const received = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    this.#chunks = [received];
    const pending = this.#pending;
    if (pending === undefined) return;
    const answer = readAnswer(received, pending.withoutBody);
    if (typeof answer === "number") {
      this.#expected = answer;
      return;
    }
    this.#pending = undefined;
    this.#chunks = [];
    this.#bytes = 0;
    this.#expected = 0;
    pending.resolve(answer);
  }

  /** No answer can be whole before so many bytes are there. */
  #expected = 0;
}

/** The answer, or how many bytes there must be before it is worth looking again. */
function readAnswer(received: Buffer, withoutBody: boolean): Answer | number {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return received.length + 1;
  const head = received.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  const start = end + 4;
  if (withoutBody || status === 204 || status === 304) {
    return { status, head, body: received.subarray(start, start) };
  }
  const length = headerOf(head, "content-length");
  if (length !== undefined) {
    const whole = start + Number(length);
    if (received.length < whole) return whole;
    return { status, head, body: received.subarray(start, whole) };
  }
  const body = readChunks(received, start);
  return body === undefined ? received.length + 1 : { status, head, body };
}

function readChunks(received: Buffer, start: number): Buffer | undefined {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = received.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(received.toString("latin1", at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (received.length < next) return undefined;
    if (size === 0) return Buffer.concat(parts);
    parts.push(received.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}

export function headerOf(head: string, name: string): string | undefined {
  const at = head.toLowerCase().indexOf(`\r\n${name}:`);
  if (at < 0) return undefined;
  const from = at + name.length + 3;
  const end = head.indexOf("\r\n", from);
  return head.slice(from, end < 0 ? undefined : end).trim();
}

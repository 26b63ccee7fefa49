import { NeverSent } from "../verify/recorder.ts";
import { framed, type Answer, type Sent } from "../verify/wire.ts";
import type { Connection, Network } from "./network.ts";
import type { SimProcess } from "./sim-process.ts";
import { microsecondsPerSecond } from "./sim-process.ts";

const answerMicrosecondsMax = 10 * microsecondsPerSecond;
/** How long a client pauses after a refused connection. */
const refusedMicrosecondsMax = 100_000;
const serviceTitles = {
  blob: "Blob service",
  queue: "Queue service",
  table: "Table service",
  file: "File service",
} as const;
const servicePorts = { blob: 10_000, queue: 10_001, table: 10_002, file: 10_003 } as const;
/** The title of the listener with this port. */
export function titleAt(port: string): string {
  const [service = "blob"] =
    Object.entries(servicePorts).find(([, own]) => `${own}` === port) ?? [];
  return serviceTitles[service as keyof typeof serviceTitles];
}

/** Bodies are sometimes sent in parts of this length. */
const partBytes = 20_000;

/** Clients without a server meet it so often that its stack took 4 % of a run. */
const neverSent = new NeverSent();

/** A request that waits for its response. */
interface Waiting {
  readonly isHead: boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A client of the simulated servers, over connections in memory, that reuses connections. */
export class SimWire {
  readonly #network: Network;
  readonly #pick: () => SimProcess | undefined;
  readonly #idle = new Map<string, Channel>();

  /** `pick` returns one of the processes, or undefined if none runs. */
  constructor(network: Network, pick: () => SimProcess | undefined) {
    this.#network = network;
    this.#pick = pick;
  }

  async send(request: Sent): Promise<Answer> {
    const { scheduler } = this.#network.options;
    const process = this.#pick();
    const channel = process && this.#channel(process, request.service);
    if (channel === undefined) {
      // A refused connection; a client tries again after a pause.
      await scheduler.sleep(scheduler.between(1, refusedMicrosecondsMax));
      throw neverSent;
    }
    const base = `http://127.0.0.1:${servicePorts[request.service]}`;
    const { path, headers, body } = framed(request, base);
    const { method } = request;
    let head = `${method} ${path} HTTP/1.1\r\nHost: ${base.slice(7)}\r\n`;
    for (const name in headers) head += `${name}: ${String(headers[name])}\r\n`;
    const answer = await channel.exchange(`${head}\r\n`, body, method === "HEAD");
    this.#idle.set(channel.name, channel);
    return answer;
  }

  #channel(process: SimProcess, service: keyof typeof serviceTitles): Channel | undefined {
    const name = `${process.pid} ${service}`;
    const idle = this.#idle.get(name);
    this.#idle.delete(name);
    if (idle?.isOpen === true) return idle;
    return Channel.open(this.#network, process, { name, title: serviceTitles[service] });
  }
}

/** A connection with one request at a time. */
class Channel {
  readonly name: string;
  readonly #network: Network;
  #connection: Connection | undefined;
  #waiting: Waiting | undefined;
  /** Of the response that is arriving. */
  #parts: Buffer[] = [];
  #partsBytes = 0;
  /** Fewer bytes are no whole response. */
  #bytesNeeded = 0;
  #receivedAt = 0;

  private constructor(network: Network, name: string) {
    this.#network = network;
    this.name = name;
  }

  static open(
    network: Network,
    process: SimProcess,
    { name, title }: { readonly name: string; readonly title: string },
  ): Channel | undefined {
    const channel = new Channel(network, name);
    channel.#connection = network.connect(process, title, {
      data: (bytes) => channel.#receive(bytes),
      closed: () => channel.#fail(new Error("the connection was closed")),
    });
    return channel.#connection && channel;
  }

  get isOpen(): boolean {
    return this.#connection?.isOpen === true;
  }

  exchange(head: string, body: string | Buffer, isHead: boolean): Promise<Answer> {
    const { scheduler } = this.#network.options;
    return new Promise((resolve, reject) => {
      this.#receivedAt = scheduler.now;
      let cancel = (): void => {};
      const waitFor = (microseconds: number): void => {
        cancel = scheduler.schedule(microseconds, () => {
          const left = this.#receivedAt + answerMicrosecondsMax - scheduler.now;
          if (left > 0) return waitFor(left);
          this.#fail(new Error("no answer in time"));
          this.#connection?.close();
        });
      };
      waitFor(answerMicrosecondsMax);
      this.#waiting = {
        isHead,
        resolve: (answer) => {
          cancel();
          resolve(answer);
        },
        reject: (error) => {
          cancel();
          reject(error);
        },
      };
      const isSplit = body.length > 0 && scheduler.random.chance(0.3);
      if (!isSplit) return this.#connection?.send(joined(head, body));
      this.#connection?.send(Buffer.from(head));
      const bytes = typeof body === "string" ? Buffer.from(body) : body;
      for (let from = 0; from < bytes.length; from += partBytes) {
        this.#connection?.send(bytes.subarray(from, from + partBytes));
      }
    });
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }

  #receive(bytes: Buffer): void {
    this.#receivedAt = this.#network.options.scheduler.now;
    this.#parts.push(bytes);
    this.#partsBytes += bytes.length;
    const waiting = this.#waiting;
    if (waiting === undefined || this.#partsBytes < this.#bytesNeeded) return;
    const received = this.#parts.length === 1 ? bytes : Buffer.concat(this.#parts);
    const parsed = parseAnswer(received, waiting.isHead);
    const isWhole = typeof parsed !== "number";
    const rest = isWhole ? received.subarray(parsed.bytes) : received;
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#partsBytes = rest.length;
    this.#bytesNeeded = isWhole ? 0 : parsed;
    if (!isWhole) return;
    this.#waiting = undefined;
    if (parsed.answer.headers["connection"] === "close") this.#connection?.close();
    waiting.resolve(parsed.answer);
  }
}

/** The bytes of a request that is sent at once. */
function joined(head: string, body: string | Buffer): Buffer {
  return typeof body === "string"
    ? Buffer.from(head + body)
    : Buffer.concat([Buffer.from(head), body]);
}

interface Parsed {
  readonly answer: Answer;
  readonly bytes: number;
}

/** The number of bytes that a whole response has at least, while it is incomplete. */
function parseAnswer(received: Buffer, isHead: boolean): Parsed | number {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return received.length + 1;
  const [first = "", ...lines] = received.toString("latin1", 0, end).split("\r\n");
  const status = Number(first.split(" ")[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const from = end + 4;
  if (isHead || status === 204 || status === 304) {
    return { answer: new ReceivedAnswer(status, headers, Buffer.alloc(0)), bytes: from };
  }
  const body =
    headers["transfer-encoding"] === "chunked"
      ? chunkedBody(received, from)
      : plainBody(received, from, Number(headers["content-length"] ?? 0));
  if (typeof body === "number") return body;
  return { answer: new ReceivedAnswer(status, headers, body.bytes), bytes: body.end };
}

/** A response whose text is made if it is asked for. */
class ReceivedAnswer implements Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;

  constructor(status: number, headers: Readonly<Record<string, string>>, bytes: Buffer) {
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }

  get text(): string {
    return this.bytes.toString();
  }
}

interface Body {
  readonly bytes: Buffer;
  readonly end: number;
}

function plainBody(received: Buffer, from: number, length: number): Body | number {
  const end = from + length;
  return received.length < end ? end : { bytes: received.subarray(from, end), end };
}

function chunkedBody(received: Buffer, from: number): Body | number {
  const chunks: Buffer[] = [];
  for (let at = from; ;) {
    const lineEnd = received.indexOf("\r\n", at);
    if (lineEnd < 0) return received.length + 1;
    const length = Number.parseInt(received.toString("latin1", at, lineEnd), 16);
    const start = lineEnd + 2;
    const end = start + length + 2;
    if (received.length < end) return end;
    if (length === 0) return { bytes: Buffer.concat(chunks), end };
    chunks.push(received.subarray(start, end - 2));
    at = end;
  }
}

import { adminHeaders } from "./admin-server.ts";

export interface StreamEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const eventsMax = 10_000;

/** Reads server-sent events one by one. */
export class EventStream {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #waiting: StreamEvent[] = [];
  #text = "";
  #isCut = false;

  private constructor(body: ReadableStream<Uint8Array>) {
    const decoded = body.pipeThrough(new TextDecoderStream());
    this.#reader = decoded.getReader();
  }

  /** Resolves when the server has subscribed the stream. */
  static async open(url: string, kinds = "", headers = {}): Promise<EventStream> {
    const answer = await fetch(`${url}/admin/v1/feed${kinds && `?kinds=${kinds}`}`, {
      headers: { ...adminHeaders, ...headers },
    });
    if (answer.status !== 200 || answer.body === null) throw new Error(`answered ${answer.status}`);
    const stream = new EventStream(answer.body);
    await stream.next("hello");
    return stream;
  }

  /** The next event of a kind; skips other kinds. */
  async next(event: string): Promise<StreamEvent["data"]> {
    for (let passed = 0; passed < eventsMax; passed += 1) {
      const found = await this.#one();
      if (found === undefined) throw new Error(`the stream ended before ${event}`);
      if (found.event === event) return found.data;
    }
    throw new Error(`no ${event} came`);
  }

  /** Resolves when the server has ended the stream. */
  async ended(): Promise<"ended" | "cut off"> {
    for (let passed = 0; passed < eventsMax; passed += 1) {
      if ((await this.#one()) === undefined) return this.#isCut ? "cut off" : "ended";
    }
    throw new Error("the stream does not end");
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }

  async #one(): Promise<StreamEvent | undefined> {
    while (this.#waiting.length === 0) {
      const { done, value } = await this.#reader.read().catch(() => {
        this.#isCut = true;
        return { done: true, value: "" };
      });
      if (done) return undefined;
      this.#take(value ?? "");
    }
    return this.#waiting.shift();
  }

  #take(chunk: string): void {
    const blocks = (this.#text + chunk).split("\n\n");
    this.#text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event === undefined || data === undefined) continue;
      this.#waiting.push({ event, data: JSON.parse(data) as StreamEvent["data"] });
    }
  }
}

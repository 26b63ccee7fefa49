import { describe, expect, it } from "vitest";
import { operationsIn, type HistoryEvent } from "../../verify/history.ts";
import { randomFrom } from "../../verify/random.ts";
import { Recorder } from "../../verify/recorder.ts";
import type { Answer, Sent } from "../../verify/wire.ts";
import { transfers } from "./transfers.ts";

interface Copied {
  readonly source: string;
  readonly startedAt: number;
}

/** A server whose copies are pending for this time. */
class SlowServer {
  readonly #pendingSeconds: number;
  readonly #bodies = new Map<string, string>();
  #copied: Copied | undefined;
  copies = 0;
  seconds = 0;

  constructor(pendingSeconds: number) {
    this.#pendingSeconds = pendingSeconds;
  }

  async send({ method, path, headers = {}, body = "" }: Sent): Promise<Answer> {
    const source = headers["x-ms-copy-source"];
    if (method === "GET") return this.#read();
    if (source === undefined) {
      this.#bodies.set(path.slice(path.lastIndexOf("/") + 1), String(body));
      return answer(201);
    }
    if (this.#state() === "pending") return answer(409);
    this.copies += 1;
    this.#copied = { source, startedAt: this.seconds };
    return answer(202, { "x-ms-copy-id": `${this.copies}` });
  }

  #state(): "pending" | "success" | undefined {
    if (this.#copied === undefined) return undefined;
    const isOver = this.seconds - this.#copied.startedAt >= this.#pendingSeconds;
    return isOver ? "success" : "pending";
  }

  #read(): Answer {
    const state = this.#state();
    const { source = "" } = this.#copied ?? {};
    if (state === undefined) return answer(404);
    const name = /source-[^?]*/.exec(source)?.[0] ?? "";
    const text = state === "success" ? this.#bodies.get(name) : "";
    return answer(200, { "x-ms-copy-source": source, "x-ms-copy-status": state }, text);
  }
}

function answer(status: number, headers: Answer["headers"] = {}, text = ""): Answer {
  return { status, headers, text, bytes: Buffer.from(text) };
}

/** The last step of a run, without copies before. */
async function finishAt(server: SlowServer): Promise<readonly string[]> {
  const events: HistoryEvent[] = [];
  const record = (event: HistoryEvent): void => void events.push(event);
  let time = 0;
  let uniques = 0;
  const setting = {
    wire: server,
    server: () => {
      throw new Error("the server has no addresses");
    },
    recorder: new Recorder("c", record, () => (time += 1)),
    random: randomFrom(1),
    epoch: () => 0,
    unique: () => `v${(uniques += 1)}`,
    pause: async (seconds: number) => void (server.seconds += seconds),
  };
  await transfers.finish(setting, []);
  return transfers.check(operationsIn(events));
}

describe("the last copy of the transfers workload", () => {
  it("may be slow", async () => {
    for (const pendingSeconds of [0, 3, 25]) {
      const server = new SlowServer(pendingSeconds);
      expect(await finishAt(server)).toEqual([]);
      expect(server.copies).toBe(1);
    }
  });

  it("is reported once if it never ends", async () => {
    expect(await finishAt(new SlowServer(Infinity))).toEqual([
      expect.stringContaining("the copy of v1 does not end"),
    ]);
  });
});

import { account, headerOf, sasOf, type Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting, type Workload } from "../../verify/workload.ts";
import { softAccount } from "./soft-delete.ts";
import {
  checkTransfers,
  type SourcePlace,
  type TransferInput,
  type TransferOutput,
} from "./transfers-check.ts";

const name = "transfers";
const container = "/simulate-transfers";
const share = "/simulate-sources";
const keysEach = 2;
/** Sources of some are in their records, of some in several messages. */
const lengths = [30, 6_000, 150_000];
const places: readonly SourcePlace[] = ["another server", "another account", "another service"];
/** No server of the simulation knows this name as its own. */
const otherHost = "source.invalid";
const lastTries = 30;
const lastPauseSeconds = 2;
/** A copy that is pending for longer when everything works counts as one that never ends. Its job
 *  is claimed after 5 s at the latest, or 20 s if a process that ended had claimed it. It then
 *  takes about 20 statements, each up to 0.2 s here, and some of them again after a conflict. */
const pendingSecondsMax = 60;

/** Copies whose bytes come over the network, from another account or another service, and arrive
 *  after the response; others replace, abort and remove them. */
export const transfers: Workload = {
  name,
  service: "blob",
  check: checkTransfers,
  async setUp({ wire }) {
    const made = { method: "PUT", path: `${container}?restype=container` } as const;
    await insist(() => wire.send({ service: "blob", ...made }), 201, 409);
    await insist(() => wire.send({ service: "blob", account: softAccount, ...made }), 201, 409);
    const path = `${share}?restype=share`;
    await insist(() => wire.send({ service: "file", method: "PUT", path }), 201, 409);
  },
  client(setting) {
    const client = new TransferClient(setting);
    return () => client.step();
  },
  async finish(setting, keys) {
    for (const key of keys) await perform(setting, key, { action: "read", isLast: true });
    await new TransferClient(setting).copyLast(`t-last`);
  },
};

class TransferClient {
  readonly #setting: Setting;
  /** The last copy of each key: its value and its id. */
  readonly #copies = new Map<string, { readonly value: string; readonly id: string }>();

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async step(): Promise<void> {
    const { random, epoch, unique } = this.#setting;
    const key = `t${epoch()}-${random.below(keysEach)}`;
    const die = random.below(100);
    if (die < 30) return void (await perform(this.#setting, key, { action: "read" }));
    if (die < 40) return void (await perform(this.#setting, key, { action: "remove" }));
    if (die < 55) {
      return void (await perform(this.#setting, key, { action: "put", value: unique() }));
    }
    const copy = this.#copies.get(key);
    if (die < 65 && copy !== undefined) {
      const input = { action: "abort", value: copy.value } as const;
      return void (await perform(this.#setting, key, input, copy.id));
    }
    await this.#copy(key, die < 90 ? "copy" : "put from URL", random.pick(places));
    const aborted = this.#copies.get(key);
    if (aborted === undefined || !random.chance(0.3)) return;
    // A pending copy refuses other writes until it is aborted; its bytes may be on their way.
    const input = { action: "abort", value: aborted.value } as const;
    await perform(this.#setting, key, input, aborted.id);
    await perform(this.#setting, key, { action: "put", value: unique() });
  }

  /** When everything works, a copy from another server succeeds. */
  async copyLast(key: string): Promise<void> {
    for (let tries = 0; tries < lastTries; tries += 1) {
      // An idle connection may have been closed.
      await this.#copy(key, "copy", "another server").catch(() => undefined);
      const read = await this.#readEnded(key);
      // A copy that is still pending is a violation, and refuses the next one.
      if (read?.state === "success" || read?.state === "pending") return;
    }
    const input = { action: "read", isLast: true } as const;
    const failed = async (): Promise<TransferOutput> => ({
      status: 200,
      value: "a copy without faults",
      isIntact: false,
    });
    await this.#setting.recorder.record({ workload: name, key, input }, failed);
  }

  /** Reads the target until its copy has ended. Only the read that ends the wait counts as the last
   *  one: a slow copy is not one that never ends. */
  async #readEnded(key: string): Promise<TransferOutput | undefined> {
    for (let seconds = lastPauseSeconds; ; seconds += lastPauseSeconds) {
      await this.#setting.pause?.(lastPauseSeconds);
      const isLast = seconds >= pendingSecondsMax;
      const read = await perform(this.#setting, key, { action: "read", isLast });
      if (isLast || (read !== undefined && read.state !== "pending")) return read;
    }
  }

  async #copy(
    key: string,
    action: "copy" | "put from URL",
    from: SourcePlace,
  ): Promise<TransferOutput | undefined> {
    const value = this.#setting.unique();
    if (!(await putSource(this.#setting, from, value))) return undefined;
    const input = { action, value, from } as const;
    let id = "";
    const run = async (): Promise<TransferOutput> => {
      const answer = await this.#setting.wire.send(requestOf(key, input, ""));
      id = headerOf(answer, "x-ms-copy-id");
      return { status: answer.status };
    };
    const output = await this.#setting.recorder.record({ workload: name, key, input }, run);
    if (action === "copy" && isFine(output?.status ?? 999)) this.#copies.set(key, { value, id });
    return output;
  }
}

/** Stores the source of a copy. Whether it is there is known before the copy begins. */
async function putSource({ wire }: Setting, from: SourcePlace, value: string): Promise<boolean> {
  const body = contentOf(value);
  if (from !== "another service") {
    const owner = from === "another account" ? { account: softAccount } : {};
    const path = `${container}/${sourceName(value)}`;
    const headers = { "x-ms-blob-type": "BlockBlob" };
    const put: Sent = { service: "blob", method: "PUT", ...owner, path, headers, body };
    return isFine((await wire.send(put)).status);
  }
  const path = `${share}/${sourceName(value)}`;
  const length = String(body.length);
  const made = { "x-ms-type": "file", "x-ms-content-length": length };
  const file = { service: "file", method: "PUT" } as const;
  if (!isFine((await wire.send({ ...file, path, headers: made })).status)) return false;
  const headers = { "x-ms-write": "update", "x-ms-range": `bytes=0-${body.length - 1}` };
  return isFine((await wire.send({ ...file, path: `${path}?comp=range`, headers, body })).status);
}

function sourceUrl(from: SourcePlace, value: string): string {
  switch (from) {
    case "another server":
      return `http://${otherHost}:10000/${account}${container}/${sourceName(value)}?${sasOf(account)}`;
    case "another account": {
      const path = `${softAccount}${container}/${sourceName(value)}`;
      return `http://127.0.0.1:10000/${path}?${sasOf(softAccount)}`;
    }
    case "another service":
      return `http://127.0.0.1:10003/${account}${share}/${sourceName(value)}?${sasOf(account)}`;
  }
}

function sourceName(value: string): string {
  return `source-${value}`;
}

/** Names the value in each of its lines, so that a mixture of two values is detected. */
function contentOf(value: string): string {
  const line = `${value}|`;
  const length = lengths[value.length % lengths.length] ?? 0;
  return line.repeat(Math.ceil(length / line.length));
}

function perform(setting: Setting, key: string, input: TransferInput, copyId = "") {
  const run = async (): Promise<TransferOutput> => {
    const answer = await setting.wire.send(requestOf(key, input, copyId));
    const { status, text } = answer;
    if (input.action !== "read" || status !== 200) return { status };
    const source = /source-([^?]*)/.exec(headerOf(answer, "x-ms-copy-source"))?.[1];
    const value = source ?? text.slice(0, text.indexOf("|"));
    const shown = headerOf(answer, "x-ms-copy-status");
    const state = (shown === "" ? "success" : shown) as NonNullable<TransferOutput["state"]>;
    const isIntact = text === (state === "success" ? contentOf(value) : "");
    return { status, value, state, isIntact };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(key: string, input: TransferInput, copyId: string): Sent {
  const path = `${container}/${key}`;
  const to = { service: "blob", path } as const;
  switch (input.action) {
    case "read":
      return { ...to, method: "GET" };
    case "remove":
      return { ...to, method: "DELETE" };
    case "put": {
      const headers = { "x-ms-blob-type": "BlockBlob" };
      return { ...to, method: "PUT", headers, body: contentOf(input.value) };
    }
    case "abort": {
      const headers = { "x-ms-copy-action": "abort" };
      const abort = `${path}?comp=copy&copyid=${copyId}`;
      return { service: "blob", method: "PUT", path: abort, headers };
    }
    default: {
      const type = input.action === "copy" ? {} : { "x-ms-blob-type": "BlockBlob" };
      const headers = { ...type, "x-ms-copy-source": sourceUrl(input.from, input.value) };
      return { ...to, method: "PUT", headers };
    }
  }
}

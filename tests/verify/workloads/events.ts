import { readAvro } from "../avro-reader.ts";
import {
  checkEvents,
  type ChangeInput,
  type ChangeOutput,
  type SeenEvent,
} from "../change-events.ts";
import { eventAccount, headerOf, type Sent } from "../wire.ts";
import { insist, isFine, type Sender, type Setting, type Workload } from "../workload.ts";

const container = "/verify-events";
const name = "events";
const blobsEach = 3;
const shared = { service: "blob", account: eventAccount } as const;

/** Clients write, change and delete blobs of an account with a change feed and a webhook. */
export const events: Workload = {
  name,
  service: "blob",
  check: checkEvents,
  async setUp({ wire }) {
    const path = `${container}?restype=container`;
    await insist(() => wire.send({ ...shared, method: "PUT", path }), 201, 409);
  },
  client(setting) {
    const etags = new Map<string, string>();
    return async () => {
      const key = `e${setting.epoch()}-${setting.random.below(blobsEach)}`;
      const output = await change(setting, key, choose(setting, etags.get(key)));
      if (output?.etag !== undefined) etags.set(key, output.etag);
    };
  },
  async finish(setting) {
    const isComplete = (seen: readonly SeenEvent[]): boolean =>
      seen.some(({ request }) => request === last);
    const last = `last${setting.unique()}`;
    // The last change: all others are committed before it.
    await insist(() => setting.wire.send(requestOf("last", { action: "put", request: last })), 201);
    const feed = await until(isComplete, () => readFeed(setting.wire));
    const delivered = await until(isComplete, () => Promise.resolve(setting.delivered?.() ?? []));
    const others = ({ request }: SeenEvent): boolean => request !== last;
    const record = (action: "feed" | "webhook", seen: readonly SeenEvent[]) =>
      setting.recorder.record({ workload: name, key: action, input: { action } }, () =>
        Promise.resolve({ status: 200, events: seen.filter(others) }),
      );
    await record("feed", feed);
    await record("webhook", delivered);
  },
};

const waitMilliseconds = 200;
const waitsMax = 300;

/** What `read` returns when it is complete, or after a minute; and once more, because events of
 *  other blobs may arrive after the last one. */
async function until(
  isComplete: (seen: readonly SeenEvent[]) => boolean,
  read: () => Promise<readonly SeenEvent[]>,
): Promise<readonly SeenEvent[]> {
  let seen: readonly SeenEvent[] = [];
  for (let waits = 0; waits < waitsMax; waits += 1) {
    const before = seen.length;
    seen = await read().catch(() => []);
    if (isComplete(seen) && seen.length === before) return [...seen];
    await new Promise((resolve) => setTimeout(resolve, waitMilliseconds));
  }
  return [...seen];
}

function choose({ random, unique }: Setting, etag: string | undefined): ChangeInput {
  const die = random.below(100);
  const request = unique();
  const isConditional = etag !== undefined && random.below(3) === 0;
  const condition = isConditional ? { condition: etag } : {};
  if (die < 60) return { action: "put", request, ...condition };
  return { action: die < 80 ? "metadata" : "delete", request, ...condition };
}

function change(setting: Setting, key: string, input: ChangeInput) {
  const run = async (): Promise<ChangeOutput> => {
    const answer = await setting.wire.send(requestOf(key, input));
    const { status } = answer;
    return isFine(status) ? { status, etag: headerOf(answer, "etag") } : { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(key: string, input: ChangeInput): Sent {
  if (!("request" in input)) throw new Error(`${input.action} is no change`);
  const { action, request, condition } = input;
  const path = `${container}/${key}`;
  const headers = {
    "x-ms-client-request-id": request,
    ...(condition !== undefined && condition !== "" && { "if-match": condition }),
  };
  if (action === "delete") return { ...shared, method: "DELETE", path, headers };
  if (action === "put") {
    const own = { ...headers, "x-ms-blob-type": "BlockBlob" };
    return { ...shared, method: "PUT", path, headers: own, body: request };
  }
  const marked = { ...headers, "x-ms-meta-by": request };
  return { ...shared, method: "PUT", path: `${path}?comp=metadata`, headers: marked };
}

/** All events of the feed, read as blobs. */
async function readFeed(wire: Sender): Promise<readonly SeenEvent[]> {
  const list = "?restype=container&comp=list&prefix=log/";
  const feed = "/$blobchangefeed";
  const listed = await wire.send({ ...shared, method: "GET", path: feed + list });
  const names = [...listed.text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, path]) => path ?? "");
  const seen: SeenEvent[] = [];
  for (const path of names) {
    const { bytes } = await wire.send({ ...shared, method: "GET", path: `${feed}/${path}` });
    for (const { subject, data } of readAvro(bytes)) {
      const { clientRequestId } = data as { readonly clientRequestId: string };
      seen.push({ subject: String(subject), request: clientRequestId });
    }
  }
  return seen;
}

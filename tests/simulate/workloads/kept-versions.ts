import { byKey, type Operation } from "../../verify/history.ts";
import { headerOf, key as accountKey, type Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting, type Workload } from "../../verify/workload.ts";

/** An account that keeps versions, counts its bytes, and reports changes in a change feed and to a
 *  queue. */
export const keptAccount = "keptaccount1";
const queue = "events";

export const keptSettings = {
  keys: [accountKey],
  versioning: true,
  changeFeed: true,
  quotaBytes: 2 ** 30,
  subscriptions: { all: { destination: { queue } } },
};

type KeptInput =
  | { readonly action: "put"; readonly value: string }
  | { readonly action: "delete" }
  | { readonly action: "readVersion"; readonly version: string; readonly isLast?: boolean }
  | { readonly action: "events" };

interface KeptOutput {
  readonly status: number;
  readonly etag?: string;
  readonly version?: string;
  readonly value?: string;
  readonly events?: readonly SeenEvent[];
}

interface SeenEvent {
  /** Id of the message, which may be received again if its deletion had no response. */
  readonly message: string;
  readonly etag: string;
  readonly sequencer: string;
}

type KeptOperation = Operation<KeptInput, KeptOutput>;

const name = "kept versions";
const container = "/simulate-versions";
const blobs = 3;
const drainGetsMax = 2_000;
const lengths = [20, 6_000, 40_000];
const eventsKey = "events";
/** A little longer than messages are hidden by default. */
const hiddenSeconds = 31;

/** Every acknowledged write stays readable as a version, and is in the subscriber's queue once. */
export const keptVersions: Workload = {
  name,
  service: "blob",
  check: checkKept,
  async setUp({ wire }) {
    const path = `${container}?restype=container`;
    await insist(() => wire.send(inAccount("blob", "PUT", path)), 201, 409);
    await insist(() => wire.send(inAccount("queue", "PUT", `/${queue}`)), 201, 204);
  },
  client(setting) {
    const versions: { readonly key: string; readonly version: string }[] = [];
    return async () => {
      const { random, unique } = setting;
      const die = random.below(100);
      if (die < 25 && versions.length > 0) {
        const { key, version } = random.pick(versions);
        await perform(setting, key, { action: "readVersion", version });
        return;
      }
      const key = `v${setting.epoch()}-${random.below(blobs)}`;
      if (die < 40) return void (await perform(setting, key, { action: "delete" }));
      const output = await perform(setting, key, { action: "put", value: unique() });
      if (output?.version !== undefined) versions.push({ key, version: output.version });
    };
  },
  async finish(setting, keys) {
    for (const key of keys) {
      for (const version of key === eventsKey ? [] : await listVersions(setting, key)) {
        await perform(setting, key, { action: "readVersion", version, isLast: true });
      }
    }
    // Messages of a lost response are hidden for a while.
    let hasPaused = false;
    for (let gets = 0; gets < drainGetsMax; gets += 1) {
      const output = await perform(setting, eventsKey, { action: "events" });
      const isEmpty = output?.events?.length === 0;
      if (isEmpty && hasPaused) return;
      if (isEmpty) await setting.pause?.(hiddenSeconds);
      hasPaused = isEmpty;
    }
  },
};

async function listVersions({ wire }: Setting, key: string): Promise<readonly string[]> {
  const query = `restype=container&comp=list&include=versions&prefix=${key}`;
  let text = "";
  // A node that learns only now that others have fenced it answers 503 until it restarts.
  await insist(async () => {
    const answer = await wire.send(inAccount("blob", "GET", `${container}?${query}`));
    text = answer.text;
    return answer;
  }, 200);
  return [...text.matchAll(/<VersionId>(.*?)<\/VersionId>/g)].map(([, version = ""]) => version);
}

function inAccount(
  service: Sent["service"],
  method: string,
  path: string,
  rest: Pick<Sent, "headers" | "body"> = {},
): Sent {
  return { service, account: keptAccount, method, path, ...rest };
}

function perform(setting: Setting, key: string, input: KeptInput) {
  const run = async (): Promise<KeptOutput> =>
    input.action === "events" ? receiveEvents(setting) : onBlob(setting, key, input);
  return setting.recorder.record({ workload: name, key, input }, run);
}

async function onBlob(
  { wire }: Setting,
  key: string,
  input: Exclude<KeptInput, { action: "events" }>,
): Promise<KeptOutput> {
  const path = `${container}/${key}`;
  if (input.action === "put") {
    const headers = { "x-ms-blob-type": "BlockBlob" };
    const put = inAccount("blob", "PUT", path, { headers, body: bodyOf(input.value) });
    const answer = await wire.send(put);
    if (!isFine(answer.status)) return { status: answer.status };
    const version = headerOf(answer, "x-ms-version-id");
    return { status: answer.status, etag: bare(headerOf(answer, "etag")), version };
  }
  if (input.action === "delete") return wire.send(inAccount("blob", "DELETE", path));
  const query = `versionid=${encodeURIComponent(input.version)}`;
  const { status, text } = await wire.send(inAccount("blob", "GET", `${path}?${query}`));
  return status === 200 ? { status, value: valueIn(text) } : { status };
}

/** Receives and deletes some events. */
async function receiveEvents({ wire }: Setting): Promise<KeptOutput> {
  const path = `/${queue}/messages?numofmessages=32`;
  const { status, text } = await wire.send(inAccount("queue", "GET", path));
  if (!isFine(status)) return { status };
  const events: SeenEvent[] = [];
  for (const [, inner = ""] of text.matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)) {
    const field = (tag: string): string =>
      new RegExp(`<${tag}>(.*?)</${tag}>`, "s").exec(inner)?.[1] ?? "";
    const event = Buffer.from(field("MessageText"), "base64").toString();
    const { data } = JSON.parse(event) as { data: { eTag?: string; sequencer: string } };
    const message = field("MessageId");
    events.push({ message, etag: data.eTag ?? "", sequencer: data.sequencer });
    const receipt = encodeURIComponent(field("PopReceipt"));
    const one = `/${queue}/messages/${message}?popreceipt=${receipt}`;
    // What stays is received again.
    await wire.send(inAccount("queue", "DELETE", one)).catch(() => {});
  }
  return { status, events };
}

function bare(etag: string): string {
  return etag.replaceAll('"', "");
}

function bodyOf(value: string): string {
  const length = lengths[value.charCodeAt(value.length - 1) % lengths.length] ?? 0;
  return `${value}|`.repeat(Math.ceil(length / value.length));
}

function valueIn(text: string): string {
  const value = text.slice(0, text.indexOf("|"));
  return text === bodyOf(value) ? value : `torn ${text.length} bytes of ${value}`;
}

function checkKept(operations: readonly Operation[]): readonly string[] {
  const all = operations as readonly KeptOperation[];
  const events = all.flatMap(({ output }) => output?.events ?? []);
  const sequencerOf = new Map<string, string>();
  for (const { etag, sequencer } of events) {
    if (etag !== "" && !sequencerOf.has(etag)) sequencerOf.set(etag, sequencer);
  }
  const messages = new Set(events.map(({ message }) => message));
  const isRepeated = new Set(events.map(({ sequencer }) => sequencer)).size < messages.size;
  const received = all.flatMap(({ output }) =>
    output?.events === undefined ? [] : [output.events],
  );
  const isDrained = received.at(-1)?.length === 0;
  const repeated = isRepeated ? ["an event is in the queue twice"] : [];
  const found = [...byKey(all)].flatMap(([key, own]) => {
    const puts = own.filter(isAcknowledged);
    const lost = isDrained ? unreported(puts, sequencerOf) : ["its events were not drained"];
    const problems = [
      ...wrongVersions(own, puts),
      ...unlisted(own, puts),
      ...lost,
      ...disorder(puts, sequencerOf),
    ];
    return key === eventsKey ? [] : problems.map((problem) => `${key}: ${problem}`);
  });
  return [...repeated, ...found];
}

function isAcknowledged({ input, output }: KeptOperation): boolean {
  return input.action === "put" && output?.version !== undefined;
}

function wrongVersions(
  own: readonly KeptOperation[],
  puts: readonly KeptOperation[],
): readonly string[] {
  const valueOf = new Map<string, string>();
  for (const { input, output } of puts) {
    if (input.action === "put") valueOf.set(output?.version ?? "", input.value);
  }
  const twice = valueOf.size === puts.length ? [] : ["two writes have the same version"];
  const wrong = own.flatMap(({ id, input, output }) => {
    if (input.action !== "readVersion" || output === undefined) return [];
    const wanted = valueOf.get(input.version);
    // Of a write without a response only the listing knows the version.
    const isExcused = input.isLast === true ? wanted === undefined : output.status >= 500;
    if ((isExcused && output.value?.startsWith("torn") !== true) || output.value === wanted) {
      return [];
    }
    return [`${id}: version ${input.version} is ${output.value ?? output.status}, not ${wanted}`];
  });
  return [...twice, ...wrong];
}

/** At the end, each acknowledged version is listed and was therefore read. */
function unlisted(
  own: readonly KeptOperation[],
  puts: readonly KeptOperation[],
): readonly string[] {
  const listed = new Set(
    own.flatMap(({ input }) =>
      input.action === "readVersion" && input.isLast === true ? [input.version] : [],
    ),
  );
  return puts.flatMap(({ id, output }) =>
    listed.has(output?.version ?? "") ? [] : [`the version of ${id} is not listed`],
  );
}

function unreported(
  puts: readonly KeptOperation[],
  sequencerOf: ReadonlyMap<string, string>,
): readonly string[] {
  return puts.flatMap(({ id, output }) =>
    sequencerOf.has(output?.etag ?? "") ? [] : [`${id} was never reported`],
  );
}

/** Writes of which one ended before the other began are reported in this order. */
function disorder(
  puts: readonly KeptOperation[],
  sequencerOf: ReadonlyMap<string, string>,
): readonly string[] {
  const placed = puts.map((put) => ({ ...put, place: sequencerOf.get(put.output?.etag ?? "") }));
  return placed.flatMap((one) =>
    placed.flatMap((other) => {
      const isWrong =
        one.returned < other.called &&
        one.place !== undefined &&
        other.place !== undefined &&
        one.place >= other.place;
      return isWrong ? [`${other.id} has an earlier sequencer than ${one.id}`] : [];
    }),
  );
}

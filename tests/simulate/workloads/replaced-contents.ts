import type { Operation } from "../../verify/history.ts";
import type { Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting, type Workload } from "../../verify/workload.ts";

type ReplacedInput =
  | { readonly action: "put"; readonly value: string }
  | { readonly action: "delete" }
  | { readonly action: "read" };

interface ReplacedOutput {
  readonly status: number;
  readonly value?: string;
}

const name = "replaced contents";
const container = "/simulate-replaced";
const blobs = 3;
/** Each is stored in an extent; some are longer than what a server sends to a bucket at once. */
const lengths = [6_000, 30_000, 90_000];

/** A few blobs that are replaced and deleted all the time, so that soon nothing refers to an extent
 *  any more and it is removed, while uploads into it may still be running: on a node that is
 *  paused or cut off until others have fenced it. */
export const replacedContents: Workload = {
  name,
  service: "blob",
  check: wrongReads,
  setUp: ({ wire }) =>
    insist(
      () => wire.send({ service: "blob", method: "PUT", path: `${container}?restype=container` }),
      201,
      409,
    ),
  client(setting) {
    return async () => {
      const { random, unique } = setting;
      const key = `p${random.below(blobs)}`;
      const die = random.below(100);
      if (die < 30) await perform(setting, key, { action: "read" });
      else if (die < 45) await perform(setting, key, { action: "delete" });
      else await perform(setting, key, { action: "put", value: unique() });
    };
  },
  async finish(setting, keys) {
    for (const key of keys) await perform(setting, key, { action: "read" });
  },
};

function perform(setting: Setting, key: string, input: ReplacedInput) {
  const run = async (): Promise<ReplacedOutput> => {
    const { status, text } = await setting.wire.send(requestOf(`${container}/${key}`, input));
    return input.action === "read" && isFine(status)
      ? { status, value: valueIn(text) }
      : { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(path: string, input: ReplacedInput): Sent {
  if (input.action === "read") return { service: "blob", method: "GET", path };
  if (input.action === "delete") return { service: "blob", method: "DELETE", path };
  const headers = { "x-ms-blob-type": "BlockBlob" };
  return { service: "blob", method: "PUT", path, headers, body: bodyOf(input.value) };
}

/** Repeats the value, so that a mixture of two values is detected. */
function bodyOf(value: string): string {
  const length = lengths[value.charCodeAt(value.length - 1) % lengths.length] ?? 0;
  return `${value}|`.repeat(Math.ceil(length / (value.length + 1)));
}

function valueIn(text: string): string {
  const value = text.slice(0, text.indexOf("|"));
  return text === bodyOf(value) ? value : `torn ${text.length} bytes of ${value}`;
}

/** Each read shows a whole value that a client had begun to write by then. The order of writes is
 *  the subject of other workloads, whose keys have shorter histories. */
function wrongReads(operations: readonly Operation[]): readonly string[] {
  const all = operations as readonly Operation<ReplacedInput, ReplacedOutput>[];
  const began = new Map<string, number>();
  for (const { key, input, called } of all) {
    if (input.action === "put") began.set(`${key} ${input.value}`, called);
  }
  return all.flatMap(({ id, key, output, returned }) => {
    const { value } = output ?? {};
    const isRight = value === undefined || (began.get(`${key} ${value}`) ?? Infinity) < returned;
    return isRight ? [] : [`${key}: ${id} has read ${value}`];
  });
}

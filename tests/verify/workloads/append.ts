import { checkAppends, type AppendInput, type AppendOutput } from "../appends.ts";
import { headerOf, type Sent } from "../wire.ts";
import { insist, isFine, type Setting, type Workload } from "../workload.ts";

const container = "/verify-appends";
const name = "append";
const recordBytesMax = 300;

/** Many clients append to one blob; some with the position they saw last. */
export const append: Workload = {
  name,
  service: "blob",
  check: checkAppends,
  async setUp({ wire }) {
    const path = `${container}?restype=container`;
    await insist(() => wire.send({ service: "blob", method: "PUT", path }), 201, 409);
  },
  client(setting) {
    const ends = new Map<string, number>();
    return async () => {
      const key = `a${setting.epoch()}`;
      if (!ends.has(key)) {
        await insist(() => setting.wire.send(newBlob(key)), 201, 409, 412);
        ends.set(key, 0);
      }
      const input = choose(setting, ends.get(key) ?? 0);
      const output = await perform(setting, key, input);
      if (output === undefined || !isFine(output.status)) return;
      const length = input.action === "append" ? input.record.length : 0;
      ends.set(key, (output.offset ?? output.text?.length ?? 0) + length);
    };
  },
  async finish(setting, keys) {
    for (const key of keys) await perform(setting, key, { action: "read" });
  },
};

function choose({ random, unique }: Setting, position: number): AppendInput {
  const die = random.below(100);
  if (die < 8) return { action: "read" };
  const record = `${unique()}${".".repeat(random.below(recordBytesMax))}|`;
  return die < 30 ? { action: "append", record, position } : { action: "append", record };
}

function newBlob(key: string): Sent {
  const headers = { "x-ms-blob-type": "AppendBlob", "if-none-match": "*" };
  return { service: "blob", method: "PUT", path: `${container}/${key}`, headers };
}

function perform(setting: Setting, key: string, input: AppendInput) {
  const run = async (): Promise<AppendOutput> => {
    const answer = await setting.wire.send(requestOf(`${container}/${key}`, input));
    const { status, text } = answer;
    if (!isFine(status)) return { status };
    if (input.action === "read") return { status, text };
    return { status, offset: Number(headerOf(answer, "x-ms-blob-append-offset")) };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(path: string, input: AppendInput): Sent {
  if (input.action === "read") return { service: "blob", method: "GET", path };
  const { record: body, position } = input;
  const headers: Record<string, string> = {};
  if (position !== undefined) headers["x-ms-blob-condition-appendpos"] = String(position);
  return { service: "blob", method: "PUT", path: `${path}?comp=appendblock`, headers, body };
}

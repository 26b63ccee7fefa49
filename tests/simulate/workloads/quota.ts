import type { Operation } from "../../verify/history.ts";
import { key as accountKey, type Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting, type Workload } from "../../verify/workload.ts";

const quotaBytes = 400_000;

/** An account that is soon full. */
export const quotaAccount = "quotaaccount1";
export const quotaSettings = { keys: [accountKey], quotaBytes };

type QuotaInput =
  | { readonly action: "put" | "last"; readonly bytes: number }
  | { readonly action: "delete" | "list" };

interface QuotaOutput {
  readonly status: number;
  /** Bytes of all blobs. */
  readonly stored?: number;
}

const name = "quota";
const container = "/simulate-quota";
const blobs = 12;
const lengths = [100, 5_000, 40_000, 90_000];
/** Each of three processes admits a sixteenth of what is free before it reads the counter again. */
const excessBytesMax = (3 * quotaBytes) / 16;
const recordBytes = 20_000;
const triesMax = 20;

/** The account never has much more than its quota, and what was deleted can be used again. */
export const quota: Workload = {
  name,
  service: "blob",
  async setUp({ wire }) {
    await insist(() => wire.send(request("PUT", `${container}?restype=container`)), 201, 409);
  },
  client(setting) {
    return async () => {
      const { random } = setting;
      const key = `q${random.below(blobs)}`;
      const die = random.below(100);
      if (die < 10) await perform(setting, key, { action: "list" });
      else if (die < 40) await perform(setting, key, { action: "delete" });
      else await perform(setting, key, { action: "put", bytes: random.pick(lengths) });
    };
  },
  async finish(setting) {
    await perform(setting, "q0", { action: "list" });
    for (let blob = 0; blob < blobs; blob += 1) {
      await performUntil(isAnswered, () => perform(setting, `q${blob}`, { action: "delete" }));
    }
    const input = { action: "last", bytes: quotaBytes - recordBytes } as const;
    await performUntil(isAccepted, () => perform(setting, "q0", input));
  },
  check(operations) {
    const all = operations as readonly Operation<QuotaInput, QuotaOutput>[];
    const over = all.flatMap(({ id, output }) =>
      (output?.stored ?? 0) > quotaBytes + excessBytesMax
        ? [`${id}: the account has ${output?.stored} bytes, its quota is ${quotaBytes}`]
        : [],
    );
    const last = all.filter(({ input }) => input.action === "last");
    // Puts without a response say nothing: connections are lost here as well.
    const isFree =
      !last.some(({ output }) => isAnswered(output)) ||
      last.some(({ output }) => isAccepted(output));
    return isFree ? over : [...over, "the bytes of deleted blobs are still counted"];
  },
};

const isAnswered = (output: QuotaOutput | undefined) => output !== undefined && output.status < 500;
const isAccepted = (output: QuotaOutput | undefined) => isFine(output?.status ?? 999);

/** Repeats a request that has no response or not the wanted one, for some time. */
async function performUntil(
  isWanted: (output: QuotaOutput | undefined) => boolean,
  send: () => Promise<QuotaOutput | undefined>,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) if (isWanted(await send())) return;
}

function request(method: string, path: string, body = "", headers = {}): Sent {
  return { service: "blob", account: quotaAccount, method, path, body, headers };
}

function perform(setting: Setting, key: string, input: QuotaInput) {
  const run = async (): Promise<QuotaOutput> => {
    const { status, text } = await setting.wire.send(requestOf(`${container}/${key}`, input));
    if (input.action !== "list" || status !== 200) return { status };
    const found = text.matchAll(/<Content-Length>(\d+)<\/Content-Length>/g);
    return { status, stored: [...found].reduce((sum, [, bytes]) => sum + Number(bytes), 0) };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(path: string, input: QuotaInput): Sent {
  if (input.action === "list") return request("GET", `${container}?restype=container&comp=list`);
  if (!("bytes" in input)) return request("DELETE", path);
  return request("PUT", path, "q".repeat(input.bytes), { "x-ms-blob-type": "BlockBlob" });
}

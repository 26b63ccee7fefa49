import { explain } from "../../verify/explain.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { checkLinearizable, type Model } from "../../verify/linearizability.ts";
import { key as accountKey, type Sent } from "../../verify/wire.ts";
import { insist, type Setting, type Workload } from "../../verify/workload.ts";

/** An account whose deleted blobs can be restored. */
export const softAccount = "softaccount1";
export const softSettings = { keys: [accountKey] };

type SoftInput =
  | { readonly action: "put"; readonly value: string }
  | { readonly action: "delete" | "restore" | "read" };

interface SoftOutput {
  readonly status: number;
  readonly value?: string;
}

const name = "soft delete";
const container = "/simulate-soft";
const blobs = 3;
const properties = `<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties>
<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy>
</StorageServiceProperties>`;

/** A deleted blob is restored as it was, and never comes back by itself. */
export const softDelete: Workload = {
  name,
  service: "blob",
  async setUp({ wire }) {
    await insist(() => wire.send(request("PUT", `${container}?restype=container`)), 201, 409);
    const path = "/?restype=service&comp=properties";
    await insist(() => wire.send(request("PUT", path, properties)), 202);
  },
  client(setting) {
    return async () => {
      const { random, epoch, unique } = setting;
      const key = `d${epoch()}-${random.below(blobs)}`;
      const action = random.pick([
        "put",
        "delete",
        "delete",
        "restore",
        "restore",
        "read",
      ] as const);
      await perform(setting, key, action === "put" ? { action, value: unique() } : { action });
    };
  },
  async finish(setting, keys) {
    for (const key of keys) {
      await perform(setting, key, { action: "read" });
      await perform(setting, key, { action: "restore" });
      await perform(setting, key, { action: "read" });
    }
  },
  check: (operations) =>
    [...byKey(operations as readonly Operation<SoftInput, SoftOutput>[])].flatMap(([key, all]) => {
      const known = all.filter(({ input, output }) => input.action !== "read" || output);
      return explain(checkLinearizable(softModel, known)).map((problem) => `${key}: ${problem}`);
    }),
};

function request(method: string, path: string, body = "", headers = {}): Sent {
  return { service: "blob", account: softAccount, method, path, body, headers };
}

function perform(setting: Setting, key: string, input: SoftInput) {
  const run = async (): Promise<SoftOutput> => {
    const { status, text } = await setting.wire.send(requestOf(`${container}/${key}`, input));
    return input.action === "read" && status === 200 ? { status, value: text } : { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(path: string, input: SoftInput): Sent {
  switch (input.action) {
    case "put":
      return request("PUT", path, input.value, { "x-ms-blob-type": "BlockBlob" });
    case "delete":
      // A restore also restores what was replaced, as blob snapshots.
      return request("DELETE", path, "", { "x-ms-delete-snapshots": "include" });
    case "restore":
      return request("PUT", `${path}?comp=undelete`);
    case "read":
      return request("GET", path);
  }
}

/** What a state consists of: the blob, and the last deleted one if there is no blob. */
interface SoftState {
  readonly current?: string;
  readonly deleted?: string;
}

/** After a status from 500 on, nothing is known; a refused call has no effect. */
const softModel: Model<SoftInput, SoftOutput> = {
  initial: "{}",
  step(text, input, output) {
    const state = JSON.parse(text) as SoftState;
    const { current, deleted } = state;
    const status = output?.status ?? 0;
    if (status >= 500) return text;
    const isFine = status < 300;
    const next = (after: SoftState): string => JSON.stringify(after);
    switch (input.action) {
      case "put":
        return isFine ? next({ current: input.value }) : text;
      case "delete":
        if (current === undefined) return isFine && output !== undefined ? undefined : text;
        return isFine ? next({ deleted: current }) : undefined;
      case "restore":
        if (current === undefined && deleted === undefined) {
          return isFine && output !== undefined ? undefined : text;
        }
        if (!isFine) return undefined;
        return deleted === undefined ? text : next({ current: deleted });
      case "read":
        return output?.value === current ? text : undefined;
    }
  },
};

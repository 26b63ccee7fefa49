import { explain } from "../../verify/explain.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { checkLinearizable, type Model } from "../../verify/linearizability.ts";
import type { Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting, type Workload } from "../../verify/workload.ts";

/** Blobs of a key, each with one tag. */
type TagInput =
  | { readonly action: "put" | "tag"; readonly blob: string; readonly color: string }
  | { readonly action: "remove"; readonly blob: string }
  | { readonly action: "find"; readonly color: string };

interface TagOutput {
  readonly status: number;
  /** The blobs that a search has found, in order. */
  readonly found?: readonly string[];
}

const name = "tag search";
const container = "/simulate-tags";
const keysEach = 2;
const blobs = ["a", "b", "c"];
const colors = ["red", "green", "blue"];

/** A search by tags finds exactly the blobs that have the tag at one moment. */
export const tagSearch: Workload = {
  name,
  service: "blob",
  async setUp({ wire }) {
    const path = `${container}?restype=container`;
    await insist(() => wire.send({ service: "blob", method: "PUT", path }), 201, 409);
  },
  client(setting) {
    return async () => {
      const { random, epoch } = setting;
      const key = `t${epoch()}-${random.below(keysEach)}`;
      const [blob, color] = [random.pick(blobs), random.pick(colors)];
      const die = random.below(100);
      if (die < 40) await perform(setting, key, { action: "find", color });
      else if (die < 55) await perform(setting, key, { action: "remove", blob });
      else if (die < 75) await perform(setting, key, { action: "put", blob, color });
      else await perform(setting, key, { action: "tag", blob, color });
    };
  },
  async finish(setting, keys) {
    for (const key of keys) {
      for (const color of colors) await perform(setting, key, { action: "find", color });
    }
  },
  check: checkTagSearch,
};

export function checkTagSearch(operations: readonly Operation[]): readonly string[] {
  const all = operations as readonly Operation<TagInput, TagOutput>[];
  return [...byKey(all)].flatMap(([key, each]) => {
    const known = each.filter(({ input, output }) => input.action !== "find" || output);
    return explain(checkLinearizable(model, known)).map((problem) => `${key}: ${problem}`);
  });
}

/** The colour of each blob: `a=red b=blue`. */
const model: Model<TagInput, TagOutput> = {
  initial: "",
  step(text, input, output) {
    const state = new Map(
      text.split(" ").flatMap((part) => {
        const [blob = "", color = ""] = part.split("=");
        return blob === "" ? [] : [[blob, color] as const];
      }),
    );
    if ((output?.status ?? 0) >= 500) return text;
    if (input.action === "find") {
      const matching = [...state].filter(([, color]) => color === input.color);
      const found = matching.map(([blob]) => blob).toSorted();
      const isSame = found.join() === (output?.found ?? []).join();
      return isSame && isFine(output?.status ?? 0) ? text : undefined;
    }
    const isThere = input.action === "put" || state.has(input.blob);
    if (output !== undefined && isFine(output.status) !== isThere) return undefined;
    if (!isThere) return text;
    if (input.action === "remove") state.delete(input.blob);
    else state.set(input.blob, input.color);
    const parts = [...state].map(([blob, color]) => `${blob}=${color}`);
    return parts.toSorted().join(" ");
  },
};

function perform(setting: Setting, key: string, input: TagInput) {
  const run = async (): Promise<TagOutput> => {
    const { status, text } = await setting.wire.send(requestOf(key, input));
    if (input.action !== "find" || status !== 200) return { status };
    const names = [...text.matchAll(/<Name>[^<]*-(\w)<\/Name>/g)].map(([, blob = ""]) => blob);
    return { status, found: names.toSorted() };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(key: string, input: TagInput): Sent {
  if (input.action === "find") {
    // Keys have tags of their own.
    const where = encodeURIComponent(`"${key}" = '${input.color}'`);
    const path = `${container}?restype=container&comp=blobs&where=${where}`;
    return { service: "blob", method: "GET", path };
  }
  const to = { service: "blob", path: `${container}/${key}-${input.blob}` } as const;
  if (input.action === "remove") return { ...to, method: "DELETE" };
  if (input.action === "put") {
    const tags = `${encodeURIComponent(key)}=${input.color}`;
    const headers = { "x-ms-blob-type": "BlockBlob", "x-ms-tags": tags };
    return { ...to, method: "PUT", headers, body: "tagged" };
  }
  const tag = `<Tag><Key>${key}</Key><Value>${input.color}</Value></Tag>`;
  const body = `<?xml version="1.0" encoding="utf-8"?><Tags><TagSet>${tag}</TagSet></Tags>`;
  return { ...to, method: "PUT", path: `${to.path}?comp=tags`, body };
}

import type { Random } from "../random.ts";
import { checkTrees, directory, type TreeInput, type TreeOutput } from "../trees.ts";
import { headerOf, treeAccount, type Answer, type Sent } from "../wire.ts";
import { insist, type Setting, type Workload } from "../workload.ts";

const name = "tree";
const filesystem = "/verify-trees";
const trees = 6;
const paths = ["a", "b", "a/x", "a/y", "b/x", "b/y", "a/x/f", "b/x/f"];
/** All contents have this length, so that a flush replaces the whole content. */
const valueLength = 24;

/** Overlapping paths of small trees, through both APIs. */
export const tree: Workload = {
  name,
  service: "blob",
  check: checkTrees,
  async setUp({ wire }) {
    await insist(() => wire.send(sent("PUT", `${filesystem}?resource=filesystem`)), 201, 409);
  },
  client(setting) {
    return async () => {
      const { random, epoch } = setting;
      const key = `e${epoch()}t${random.below(trees)}`;
      await perform(setting, key, nextInput(random, setting.unique().padEnd(valueLength, ".")));
    };
  },
  async finish(setting, keys) {
    for (const key of keys) {
      for (const api of ["blob", "dfs"] as const) {
        await perform(setting, key, { action: "list", api });
      }
      for (const path of paths) await perform(setting, key, { action: "read", path });
    }
  },
};

function nextInput(random: Random, value: string): TreeInput {
  const path = random.pick(paths);
  const dice = random.below(100);
  if (dice < 15) return { action: "put", path, value };
  if (dice < 22) return { action: "create", path };
  if (dice < 29) return { action: "mkdir", path };
  if (dice < 35) return { action: "stage", path, value };
  if (dice < 45) return { action: "flush", path, value };
  if (dice < 65) {
    const to = random.pick(paths.filter((each) => each !== path));
    return { action: "rename", path, to, isFresh: random.chance(0.5) };
  }
  if (dice < 70) return { action: "delete", path };
  if (dice < 74) return { action: "deleteBlob", path };
  if (dice < 85) return { action: "read", path };
  return { action: "list", api: random.pick(["blob", "dfs"]) };
}

function sent(method: string, path: string, more: Partial<Sent> = {}): Sent {
  return { service: "blob", account: treeAccount, method, path, ...more };
}

function perform(setting: Setting, key: string, input: TreeInput) {
  const run = async (): Promise<TreeOutput> => {
    const answer = await setting.wire.send(requestOf(key, input));
    return outputOf(key, input, answer);
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(key: string, input: TreeInput): Sent {
  if (input.action === "list") {
    return input.api === "blob"
      ? sent("GET", `${filesystem}?restype=container&comp=list&prefix=${key}/`)
      : sent("GET", `${filesystem}?resource=filesystem&recursive=true&directory=${key}`);
  }
  const at = `${filesystem}/${key}/${input.path}`;
  const free = { "if-none-match": "*" };
  switch (input.action) {
    case "put":
      return sent("PUT", at, { headers: { "x-ms-blob-type": "BlockBlob" }, body: input.value });
    case "create":
      return sent("PUT", `${at}?resource=file`);
    case "mkdir":
      return sent("PUT", `${at}?resource=directory`, { headers: free });
    case "stage":
      return sent("PATCH", `${at}?action=append&position=${valueLength}`, { body: input.value });
    case "flush":
      return sent("PATCH", `${at}?action=append&position=0&flush=true`, { body: input.value });
    case "rename": {
      const source = { "x-ms-rename-source": at };
      const headers = input.isFresh ? { ...source, ...free } : source;
      return sent("PUT", `${filesystem}/${key}/${input.to}?mode=legacy`, { headers });
    }
    case "delete":
      return sent("DELETE", `${at}?recursive=true`);
    case "deleteBlob":
      return sent("DELETE", at);
    case "read":
      return sent("GET", at);
  }
}

function outputOf(key: string, input: TreeInput, answer: Answer): TreeOutput {
  const { status, text } = answer;
  const isDone = status < 300;
  if (input.action === "list") {
    const listed = isDone ? namesIn(text, input.api) : [];
    return { status, paths: listed.map((each) => each.slice(key.length + 1)).toSorted() };
  }
  if (input.action !== "read" || !isDone) return { status };
  const isDirectory = headerOf(answer, "x-ms-resource-type") === directory;
  return { status, value: isDirectory ? directory : text };
}

function namesIn(text: string, api: "blob" | "dfs"): readonly string[] {
  if (api === "blob") return [...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, each]) => each!);
  const { paths: listed } = JSON.parse(text) as { readonly paths: readonly { name: string }[] };
  return listed.map((each) => each.name);
}

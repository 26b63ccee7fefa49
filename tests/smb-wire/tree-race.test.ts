import type { ShareClient } from "@azure/storage-file-share";
import { describe, expect, it } from "vitest";
import { inForm } from "../harness/long-form.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { checkLinearizable } from "../verify/linearizability.ts";
import { randomFrom, type Random } from "../verify/random.ts";
import type { Operation } from "../verify/history.ts";
import { restAndSmb, codeOf, elsewhere } from "./rest-and-smb.ts";
import { restTreeClient, smbTreeClient, type TreeClient } from "./tree-clients.ts";
import { textOfTree, treeModel, treeOf, type TreeInput, type TreeOutput } from "./tree-model.ts";

const folder = temporaryFolder();
const { share, ready } = restAndSmb({ location: folder });

const clientsOfEach = 4;
const turnsEach = 40;
const rounds: readonly (readonly [seed: number, where: string])[] = [
  [1, "in one process"],
  [3, "in two processes"],
  ...inForm([], [[2, "in one process"] as const]),
];

type Done = Operation<TreeInput, TreeOutput>;

/** Every round uses new names. */
function names(round: number) {
  const directories = ["a", "b", "c"].map((letter) => `${letter}${round}`);
  const files = directories.flatMap((each) => [`${each}/one`, `${each}/two`]);
  return { directories, files };
}

function nextInput(random: Random, round: number, text: string, isSmb: boolean): TreeInput {
  const { directories, files } = names(round);
  const path = random.pick(files);
  const directory = random.pick(directories);
  const dice = random.below(16);
  if (dice < 3) return { kind: isSmb ? "create" : "reset", path };
  if (dice < 7) return { kind: "write", path, text, over: !isSmb };
  if (dice < 9) return { kind: "read", path };
  if (dice < 11) return { kind: "delete", path };
  if (dice === 11) return { kind: "mkdir", path: directory };
  if (dice === 12) return { kind: "rmdir", path: directory };
  const to = isSmb && dice === 13 ? random.pick(directories) : random.pick(files);
  const from = isSmb && dice === 13 ? directory : path;
  return to === from ? { kind: "read", path } : { kind: "rename", path: from, to };
}

let clock = 0;

/** Calls and responses in the order in which this process saw them. */
async function record(
  history: Done[],
  client: TreeClient,
  input: TreeInput,
): Promise<TreeOutput | "busy"> {
  const called = (clock += 1);
  const output = await client(input);
  // Operations that got `busy` returned nothing that an order must explain.
  if (output !== "busy") {
    const returned = (clock += 1);
    history.push({ id: `${called}`, workload: "", key: "", input, output, called, returned });
  }
  return output;
}

/** The final tree, as REST lists and reads it. */
async function endOf(directories: readonly string[]): Promise<string> {
  const tree = new Map<string, string>();
  for (const name of directories) {
    const directory = share().getDirectoryClient(name);
    if (!(await directory.exists())) continue;
    tree.set(name, "/");
    for await (const { kind, name: file } of directory.listFilesAndDirectories()) {
      expect(kind).toBe("file");
      const bytes = await directory.getFileClient(file).downloadToBuffer();
      tree.set(`${name}/${file}`, bytes.toString());
    }
  }
  return textOfTree(tree);
}

async function expectNoLeaks(given: ShareClient, tree: string): Promise<void> {
  const root = given.rootDirectoryClient;
  const handles: string[] = [];
  for await (const { path } of root.listHandles({ recursive: true })) handles.push(path);
  expect(handles).toEqual([]);
  // Everything that is neither open nor locked can be deleted, files before their directories.
  for (const path of [...treeOf(tree).keys()].toSorted().toReversed()) {
    const [directory = "", file] = path.split("/");
    const at = given.getDirectoryClient(directory);
    const removal = file === undefined ? at.delete() : at.getFileClient(file).delete();
    expect([path, await codeOf(removal)]).toEqual([path, "done"]);
  }
}

async function sameShareElsewhere(): Promise<ShareClient> {
  return (await elsewhere(folder)).getShareClient(share().name);
}

describe("SMB and REST clients on one tree", () => {
  it.each(rounds)("have results that a serial order explains (%i, %s)", async (round, where) => {
    const rest = where === "in one process" ? share() : await sameShareElsewhere();
    const { directories } = names(round);
    const [first = "", second = "", third = ""] = directories;
    for (const name of [first, second]) await share().getDirectoryClient(name).create();
    const history: Done[] = [];
    let busy = 0;
    const run = async (client: TreeClient, index: number, isSmb: boolean): Promise<void> => {
      const random = randomFrom(round * 100 + index);
      for (let turn = 0; turn < turnsEach; turn += 1) {
        const text = `${index}.${turn}`.padEnd(8, "-");
        const output = await record(history, client, nextInput(random, round, text, isSmb));
        if (output === "busy") busy += 1;
      }
    };
    const smb = await Promise.all(Array.from({ length: clientsOfEach }, () => ready()));
    await Promise.all([
      ...smb.map((client, index) => run(smbTreeClient(client), index, true)),
      ...smb.map((_, index) => run(restTreeClient(rest), index + clientsOfEach, false)),
    ]);
    const tree = await endOf([first, second, third]);
    await record(history, async () => ({ said: "listed", tree }), { kind: "list" });
    const verdict = checkLinearizable(treeModel([first, second]), history);
    expect(verdict).toEqual({ kind: "linearizable" });
    // Shows that clients did conflict.
    expect(busy).toBeGreaterThan(0);
    expect(history.length).toBeGreaterThan(clientsOfEach * turnsEach);
    for (const client of smb) client.end();
    await expectNoLeaks(share(), tree);
  });
});

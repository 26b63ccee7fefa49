import { appendFileSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { accountSas } from "../../harness/raw-client.ts";
import { freshName, testServer } from "../../harness/server.ts";
import { makeTree, runProgram, sumsOf } from "../tree.ts";

const held = testServer();
const tree = makeTree();
const back = temporaryFolder();
const container = `remote:${freshName("rclone")}`;
let rclone: (...words: readonly string[]) => Promise<string>;

beforeAll(() => {
  const environment = {
    RCLONE_CONFIG: "/dev/null",
    RCLONE_CONFIG_REMOTE_TYPE: "azureblob",
    RCLONE_CONFIG_REMOTE_SAS_URL: `${held.server.urls.blob}/devstoreaccount1?${accountSas()}`,
    RCLONE_RETRIES: "1",
    RCLONE_LOW_LEVEL_RETRIES: "1",
  };
  rclone = (...words) => runProgram({ name: "rclone", environment }, words);
});
afterAll(() => {
  rmSync(tree, { recursive: true });
});

/** The form of `rclone` listings: name and MD5, from the server's properties. */
async function remoteSums(path: string): Promise<Readonly<Record<string, string>>> {
  const lines = (await rclone("md5sum", path)).trim().split("\n");
  const pairs = lines.map((line) => [line.slice(34), line.slice(0, 32)] as const);
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

describe("rclone", () => {
  it("uploads and lists a tree with equal checksums", async () => {
    await rclone("mkdir", container);
    await rclone("sync", tree, `${container}/tree`);
    expect(await remoteSums(`${container}/tree`)).toEqual(sumsOf(tree));
    await rclone("check", tree, `${container}/tree`);
  });

  it("downloads it byte for byte", async () => {
    await rclone("copy", `${container}/tree`, back);
    expect(sumsOf(back)).toEqual(sumsOf(tree));
  });

  it("synchronizes changes and deletes", async () => {
    appendFileSync(join(tree, "small.txt"), "more\n");
    unlinkSync(join(tree, "empty"));
    await rclone("sync", tree, `${container}/tree`);
    expect(await remoteSums(`${container}/tree`)).toEqual(sumsOf(tree));
  });

  it("copies and moves on the server", async () => {
    await rclone("copyto", `${container}/tree/large.bin`, `${container}/copy`);
    await rclone("moveto", `${container}/copy`, `${container}/moved`);
    const expected = sumsOf(tree)["large.bin"];
    expect(await remoteSums(`${container}/moved`)).toEqual({ moved: expected });
    expect(await rclone("lsf", container)).toBe("moved\ntree/\n");
  });

  it("deletes everything", async () => {
    await rclone("purge", container);
    expect(await rclone("lsd", "remote:")).toBe("");
  });
});

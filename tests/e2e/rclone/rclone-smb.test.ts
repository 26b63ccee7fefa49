import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { developmentAccountKey, developmentAccountName } from "../../../src/account/settings.ts";
import { freshName, testServer } from "../../harness/server.ts";
import { runProgram, sumsOf } from "../tree.ts";
import { inForm } from "../../harness/long-form.ts";

const held = testServer();
const files = inForm(150, 1000);
const filesPerFolder = inForm(30, 100);
const tree = temporaryFolder();
const back = temporaryFolder();
let rclone: (...words: readonly string[]) => Promise<string>;
let share = "";

beforeAll(async () => {
  share = freshName("rclone");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
  for (let index = 0; index < files; index += 1) {
    const folder = join(tree, `folder ${Math.floor(index / filesPerFolder)}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file ${index}.bin`), randomBytes(index * inForm(47, 7)));
  }
  const { stdout } = await promisify(execFile)("rclone", ["obscure", developmentAccountKey]);
  const { hostname, port } = new URL(held.server.smbUrl);
  const environment = {
    RCLONE_CONFIG: "/dev/null",
    RCLONE_CONFIG_REMOTE_TYPE: "smb",
    RCLONE_CONFIG_REMOTE_HOST: hostname,
    RCLONE_CONFIG_REMOTE_PORT: port,
    RCLONE_CONFIG_REMOTE_USER: developmentAccountName,
    RCLONE_CONFIG_REMOTE_PASS: stdout.trim(),
    RCLONE_RETRIES: "1",
    RCLONE_LOW_LEVEL_RETRIES: "1",
  };
  rclone = (...words) => runProgram({ name: "rclone", environment }, words);
});

describe("rclone over SMB", () => {
  it("copies many files there and back with equal checksums", async () => {
    await rclone("copy", tree, `remote:${share}/tree`);
    await rclone("copy", `remote:${share}/tree`, back);
    expect(sumsOf(back)).toEqual(sumsOf(tree));
    expect(Object.keys(sumsOf(back))).toHaveLength(files);
  });
});

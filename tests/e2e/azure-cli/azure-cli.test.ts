import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountSas } from "../../harness/raw-client.ts";
import { freshName, testServer } from "../../harness/server.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { makeTree, sumsOf } from "../tree.ts";
import { AzSession } from "./az-session.ts";

const held = testServer();
const tree = makeTree();
const home = temporaryFolder();
const back = temporaryFolder();
const container = freshName("azcli");
let session: AzSession;
const az = (...words: readonly string[]): Promise<unknown> => session.run(...words);

beforeAll(() => {
  const environment = {
    AZURE_STORAGE_CONNECTION_STRING: held.server.connectionString,
    AZURE_CONFIG_DIR: home,
    AZURE_CORE_COLLECT_TELEMETRY: "false",
    AZURE_CORE_NO_COLOR: "true",
  };
  session = new AzSession(environment);
});
afterAll(async () => {
  await session.end();
  rmSync(tree, { recursive: true, force: true });
});

const large = () => ["--container-name", container, "--name", "large.bin"];

describe("az storage", { timeout: 300_000 }, () => {
  it("uploads a tree and lists it", async () => {
    expect(await az("container", "create", "--name", container)).toEqual({ created: true });
    await az("blob", "upload-batch", "--source", tree, "--destination", container, "--no-progress");
    const listed = (await az("blob", "list", "--container-name", container)) as { name: string }[];
    expect(listed.map(({ name }) => name).toSorted()).toEqual(Object.keys(sumsOf(tree)).toSorted());
  });

  it("downloads it byte for byte", async () => {
    await az(
      "blob",
      "download-batch",
      "--source",
      container,
      "--destination",
      back,
      "--no-progress",
    );
    expect(sumsOf(back)).toEqual(sumsOf(tree));
  });

  it("acquires a lease that blocks other writers", async () => {
    const words = ["--container-name", container, "--blob-name", "large.bin"];
    // Without end: each command takes seconds.
    const lease = (await az("blob", "lease", "acquire", ...words, "--lease-duration=-1")) as string;
    const change = ["blob", "metadata", "update", ...large(), "--metadata", "a=b"];
    await expect(az(...change)).rejects.toThrow(/lease/i);
    await az(...change, "--lease-id", lease);
    await az("blob", "lease", "release", ...words, "--lease-id", lease);
    expect(await az("blob", "metadata", "show", ...large())).toEqual({ a: "b" });
  });

  it("snapshots, copies and deletes", async () => {
    const { snapshot } = (await az("blob", "snapshot", ...large())) as { snapshot: string };
    expect(snapshot).toMatch(/^\d{4}-/);
    const target = ["--destination-container", container, "--destination-blob", "copy"];
    const account = `${held.server.urls.blob}/devstoreaccount1`;
    const source = `${account}/${container}/large.bin?${accountSas()}`;
    await az("blob", "copy", "start", ...target, "--source-uri", source);
    const shown = (await az("blob", "show", "--container-name", container, "--name", "copy")) as {
      properties: { copy: { status: string }; contentLength: number };
    };
    expect(shown.properties.copy.status).toBe("success");
    // It would build a cloud URL from a container and a name.
    const named = ["--source-container", container, "--source-blob", "large.bin"];
    await az("blob", "copy", "start", ...target, ...named);
    await az("blob", "delete", ...large(), "--delete-snapshots", "include");
    expect(await az("blob", "exists", ...large())).toEqual({ exists: false });
    expect(await az("container", "delete", "--name", container)).toEqual({ deleted: true });
  });

  it("copies a file by name", async () => {
    const share = freshName("azshare");
    await az("share", "create", "--name", share);
    const local = ["--source", join(tree, "large.bin"), "--path", "a.bin", "--no-progress"];
    await az("file", "upload", "--share-name", share, ...local);
    const from = ["--source-share", share, "--source-path", "a.bin"];
    const to = ["--destination-share", share, "--destination-path", "b.bin"];
    await az("file", "copy", "start", ...from, ...to);
    const shown = (await az("file", "show", "--share-name", share, "--path", "b.bin")) as {
      properties: { copy: { status: string } };
    };
    expect(shown.properties.copy.status).toBe("success");
  });
});

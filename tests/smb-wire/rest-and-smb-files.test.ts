import { describe, expect, it } from "vitest";
import { accountSas } from "../harness/raw-client.ts";
import { freshName } from "../harness/server.ts";
import { restAndSmb, codeOf, type Target } from "./rest-and-smb.ts";
import type { Handle, WireClient } from "./wire-client.ts";
import { Access, close, openFile, setDeletePending, type OpenOptions } from "./wire-messages.ts";
import type { ShareFileClient } from "@azure/storage-file-share";

const { share, ready, restFile } = restAndSmb();

/** REST operations on a file, by the access they need. */
const operations: Readonly<Record<string, (target: Target) => Promise<unknown>>> = {
  "look at": ({ file }) => file.getProperties(),
  get: ({ file }) => file.download(0),
  "list ranges": ({ file }) => file.getRangeList(),
  "copy from": async ({ file }) => {
    const copy = share().rootDirectoryClient.getFileClient(freshName("copy"));
    await copy.startCopyFromURL(file.url);
  },
  "set properties": ({ file }) => file.setHttpHeaders({ fileContentType: "text/plain" }),
  "set metadata": ({ file }) => file.setMetadata({ a: "b" }),
  "put range": ({ file }) => file.uploadRange("x", 0, 1),
  "clear range": ({ file }) => file.clearRange(0, 1),
  "put range from": async ({ file }) => {
    const source = await restFile();
    await file.uploadRangeFromURL(signed(source.file), 0, 0, 1);
  },
  create: ({ file }) => file.create(4),
  "copy to": async ({ file }) => {
    const source = await restFile();
    await file.startCopyFromURL(source.file.url);
  },
  lease: async ({ file }) => {
    const lease = file.getShareLeaseClient();
    await lease.acquireLease();
    await lease.releaseLease();
  },
  rename: ({ file }) => file.rename(freshName("renamed")),
  "rename onto": async ({ name }) => {
    const source = await restFile();
    await source.file.rename(name, { replaceIfExists: true });
  },
  delete: ({ file }) => file.delete(),
};

function signed(file: ShareFileClient): string {
  return `${file.url}?${accountSas()}`;
}

const reading = ["get", "list ranges", "copy from"];
const writing = ["set properties", "set metadata", "put range", "clear range", "put range from"];
const replacing = ["create", "copy to"];
const renaming = ["rename", "rename onto"];
/** An open file is not deleted, whatever its handles share. */
const always = ["delete"];

/**
 * The share mode of an SMB reader, and the operations that fail.
 * learn.microsoft.com/rest/api/storageservices/managing-file-locks
 */
const shareModes: readonly (readonly [mode: string, share: number, fails: readonly string[]])[] = [
  ["nothing", 0, [...reading, ...writing, ...replacing, ...renaming, "lease"]],
  ["reading", 1, [...writing, ...replacing, ...renaming, "lease"]],
  ["writing", 2, [...reading, ...replacing, ...renaming, "lease"]],
  ["deleting", 4, [...reading, ...writing, ...replacing, "lease"]],
  ["reading and writing", 3, [...replacing, ...renaming, "lease"]],
  ["reading and deleting", 5, [...writing, ...replacing, "lease"]],
  ["writing and deleting", 6, [...reading, "lease"]],
  ["everything", 7, []],
];

/** The error code of every operation, each on its own open file. */
async function codesBeside(
  opening: OpenOptions,
  prepare: (client: WireClient, handle: Handle) => Promise<unknown> = async () => {},
): Promise<Readonly<Record<string, string>>> {
  const client = await ready();
  const codes: Record<string, string> = {};
  for (const [name, run] of Object.entries(operations)) {
    const target = await restFile();
    const handle = await openFile(client, target.name, opening);
    await prepare(client, handle);
    codes[name] = await codeOf(run(target));
    await close(client, handle);
  }
  client.end();
  return codes;
}

function expectedCodes(fails: readonly string[], code: string): Readonly<Record<string, string>> {
  const pairs = Object.keys(operations).map((name) => [name, fails.includes(name) ? code : "done"]);
  return Object.fromEntries(pairs);
}

describe("6 REST and an SMB open that shares", () => {
  it.each(shareModes)("%s", async (_, mode, fails) => {
    const codes = await codesBeside({ access: Access.read, share: mode });
    expect(codes).toEqual(expectedCodes([...fails, ...always], "SharingViolation"));
  });

  it("everything but writes: only leases conflict", async () => {
    const codes = await codesBeside({ access: Access.write, share: 7 });
    expect(codes).toEqual(expectedCodes(["lease", ...always], "SharingViolation"));
  });

  it("nothing, with attribute access only: only deletes and replacing conflict", async () => {
    const codes = await codesBeside({ access: Access.look, share: 0 });
    expect(codes).toEqual(expectedCodes(["rename onto", ...always], "SharingViolation"));
  });
});

describe("6 REST and a delete-pending file", () => {
  it("every operation is rejected", async () => {
    const codes = await codesBeside({}, (client, handle) => setDeletePending(client, handle, true));
    expect(codes).toEqual(expectedCodes(Object.keys(operations), "DeletePending"));
  });
});

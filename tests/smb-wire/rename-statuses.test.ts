import type { ShareDirectoryClient } from "@azure/storage-file-share";
import { describe, expect, it } from "vitest";
import { nameOfStatus, Status, type NtStatus } from "../../src/smb/status.ts";
import { freshName } from "../harness/server.ts";
import { restAndSmb, codeOf } from "./rest-and-smb.ts";
import { acknowledgeLease, leasedOpen } from "./lease-messages.ts";
import { Option, renameTo, Right, setAttributes, withHandle } from "./verdict-steps.ts";
import type { WireClient } from "./wire-client.ts";
import { Access, close, openFile, setDeletePending } from "./wire-messages.ts";

const { share, ready, restFile } = restAndSmb();
const deleting = { access: Access.delete };
const readOnly = 0x21;

async function newDirectory() {
  const directory = share().getDirectoryClient(freshName("directory"));
  await directory.create();
  return directory;
}

describe("an SMB client that renames", () => {
  it("over a leased file is rejected, and the file keeps its bytes and lease", async () => {
    const client = await ready();
    const [source, target] = [await restFile("new"), await restFile("old")];
    await target.file.getShareLeaseClient().acquireLease();
    const status = await withHandle(client, source.name, deleting, renameTo(target.name, true));
    expect(status).toBe(Status.sharingViolation);
    expect((await target.file.downloadToBuffer()).toString()).toBe("old");
    expect((await target.file.getProperties()).leaseState).toBe("leased");
    client.end();
  });

  it("a directory over one that is not empty gets DIRECTORY_NOT_EMPTY, as POSIX requires", async () => {
    const client = await ready();
    const [source, target] = [await newDirectory(), await newDirectory()];
    const over = () => withHandle(client, source.name, deleting, renameTo(target.name, true));
    expect(await over()).toBe(Status.accessDenied);
    await target.getFileClient("file").create(1);
    expect(await over()).toBe(Status.directoryNotEmpty);
    client.end();
  });

  it("into a delete-pending directory is rejected, and the directory is deleted", async () => {
    const client = await ready();
    const directory = await newDirectory();
    const options = Option.directory;
    const left = await openFile(client, directory.name, { access: Access.read, options });
    const marker = await openFile(client, directory.name, { options });
    await setDeletePending(client, marker, true);
    await close(client, marker);
    const { name } = await restFile();
    const status = await withHandle(client, name, deleting, renameTo(`${directory.name}\\new`));
    expect(status).toBe(Status.deletePending);
    await close(client, left);
    expect(await directory.exists()).toBe(false);
    client.end();
  });
});

describe("an SMB client that sets attributes", () => {
  it("of a leased file is rejected, and they do not change", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const lease = file.getShareLeaseClient();
    await lease.acquireLease();
    const set = () =>
      withHandle(client, name, { access: Right.writeAttributes }, setAttributes(readOnly));
    expect(await set()).toBe(Status.sharingViolation);
    expect((await file.getProperties()).fileAttributes).not.toContain("ReadOnly");
    await lease.releaseLease();
    expect(await set()).toBe(Status.success);
    expect((await file.getProperties()).fileAttributes).toContain("ReadOnly");
    client.end();
  });
});

describe("a directory with files that clients keep open only in their caches", () => {
  const readAndHandle = 3;
  const renamings: Readonly<
    Record<string, (client: WireClient, directory: ShareDirectoryClient) => Promise<string>>
  > = {
    SMB: async (client, { name }) => {
      const to = freshName("renamed");
      const status = await withHandle(client, name, deleting, renameTo(to));
      return status === Status.success ? "done" : nameOfStatus(status as NtStatus);
    },
    REST: (_, directory) => codeOf(directory.rename(freshName("renamed"))),
  };
  const refusals = { SMB: "accessDenied", REST: "SharingViolation" };

  async function cachedBelow(key: number) {
    const [keeper, mover] = [await ready(), await ready()];
    const directory = await newDirectory();
    await directory.getFileClient("file").create(1);
    const path = `${directory.name}\\file`;
    const handle = await leasedOpen(keeper, path, { state: readAndHandle, key });
    return { keeper, mover, directory, handle };
  }

  it.each(Object.entries(renamings))("is renamed over %s after they are closed", async (_, run) => {
    const { keeper, mover, directory, handle } = await cachedBelow(1);
    const renaming = run(mover, directory);
    await keeper.noticed(1);
    await close(keeper, handle);
    expect(await renaming).toBe("done");
    keeper.end();
    mover.end();
  });

  it.each(Object.entries(renamings))(
    "is not renamed over %s if they stay open",
    async (by, run) => {
      const { keeper, mover, directory } = await cachedBelow(2);
      const renaming = run(mover, directory);
      await keeper.noticed(1);
      await acknowledgeLease(keeper, 2, 1);
      expect(await renaming).toBe(refusals[by as keyof typeof refusals]);
      expect(await directory.exists()).toBe(true);
      keeper.end();
      mover.end();
    },
  );
});

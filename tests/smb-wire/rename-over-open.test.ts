import { ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { start } from "../../src/index.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { Status } from "../../src/smb/status.ts";
import { startChild } from "../harness/child-server.ts";
import { freePorts, freshName } from "../harness/server.ts";
import { silentLog } from "../harness/silent-log.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { restAndSmb } from "./rest-and-smb.ts";
import { renameTo, withHandle } from "./verdict-steps.ts";
import { WireClient } from "./wire-client.ts";
import { Access, close, openFile, read, write } from "./wire-messages.ts";

/** The content of a file is outside of its record. */
const old = "old ".repeat(50_000);
const renaming = { access: Access.delete };
const { share, ready, restFile } = restAndSmb();

async function namesIn(listed: ShareClient): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of listed.rootDirectoryClient.listFilesAndDirectories()) {
    names.push(name);
  }
  return names;
}

describe("a client that has a file open", () => {
  it("keeps it when another client renames a file over it", async () => {
    const [holder, mover] = [await ready(), await ready()];
    const [source, target] = [await restFile("new"), await restFile(old)];
    const access = Access.read | Access.write;
    const handle = await openFile(holder, target.name, { access });
    const status = await withHandle(mover, source.name, renaming, renameTo(target.name, true));
    expect(status).toBe(Status.success);
    expect(await namesIn(share())).toEqual([target.name]);
    expect((await target.file.downloadToBuffer()).toString()).toBe("new");
    expect((await write(holder, handle, "OLD")).status).toBe(Status.success);
    expect((await read(holder, handle, 8)).text).toBe("OLD old ");
    const { shareUsageBytes } = await share().getStatistics();
    expect(shareUsageBytes).toBe(old.length + 3);
    await close(holder, handle);
    expect((await share().getStatistics()).shareUsageBytes).toBe(3);
    expect((await target.file.downloadToBuffer()).toString()).toBe("new");
    holder.end();
    mover.end();
  });

  it("keeps it when it renames another file over it itself", async () => {
    const client = await ready();
    const [source, target] = [await restFile("new"), await restFile("old")];
    const handle = await openFile(client, target.name, { access: Access.read });
    const status = await withHandle(client, source.name, renaming, renameTo(target.name, true));
    expect(status).toBe(Status.success);
    expect((await read(client, handle, 3)).text).toBe("old");
    client.end();
  });
});

describe("a folder with a replaced file that is open", () => {
  const folder = temporaryFolder();
  const location = join(folder, "data");
  const name = freshName("share");
  const report = () => checkFolder({ location, clock: realClock(), log: silentLog });
  const shareAt = (endpoint: string, account = developmentAccountName, key?: string) =>
    ShareServiceClient.fromConnectionString(
      `DefaultEndpointsProtocol=http;AccountName=${account};` +
        `AccountKey=${key ?? developmentAccountKey};FileEndpoint=${endpoint}/${account}`,
    ).getShareClient(name);

  it("has no problems, also in its exports, and loses the file after a kill", async () => {
    const child = await startChild(location, ["--silent"]);
    const files = shareAt(child.urls.file);
    await files.create();
    for (const [file, text] of Object.entries({ s: "new", t: old })) {
      const made = files.rootDirectoryClient.getFileClient(file);
      await made.create(text.length);
      await made.uploadRange(text, 0, text.length);
    }
    const client = await WireClient.ready(child.urls.smb, name);
    await openFile(client, "t", { access: Access.read });
    expect(await withHandle(client, "s", renaming, renameTo("t", true))).toBe(Status.success);
    const before = await report();
    expect(before.problems).toEqual([]);
    expect(before.records.get("nodes")).toBe(3);
    const archive = join(folder, "open.etagere");
    {
      // Another process on the same folder, while the handle is open.
      await using beside = await start({ ...freePorts, noSmb: true, location });
      await beside.export(archive, { accounts: [developmentAccountName] });
    }
    expect((await report()).records.get("nodes")).toBe(3);
    await child.kill("SIGKILL");
    client.end();

    await using server = await start({ ...freePorts, location });
    await vi.waitFor(async () => expect((await report()).records.get("nodes")).toBe(2), 20_000);
    expect((await report()).problems).toEqual([]);
    const { accounts } = await server.load(archive, { as: "copied" });
    const copied = shareAt(server.urls.file ?? "", "copied", accounts[0]?.keys?.[0]);
    expect(await namesIn(copied)).toEqual(["t"]);
    const loaded = await copied.rootDirectoryClient.getFileClient("t").downloadToBuffer();
    expect(loaded.toString()).toBe("new");
    expect((await report()).problems).toEqual([]);
  }, 60_000);
});

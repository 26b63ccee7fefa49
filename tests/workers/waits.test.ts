import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { adminHeader } from "../../src/admin/security/admin-auth.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { Access, acknowledgeOplock, createBody, handleOf } from "../smb-wire/wire-messages.ts";
import { freshConnections, startWorkers, type WorkerServer } from "./worker-server.ts";

const createCommand = 5;
const batchOplock = 9;
/** So many that hardly ever one worker gets all of them. */
const readers = 32;

async function waitingReaders(server: WorkerServer): Promise<number> {
  const url = `${server.urlOf("admin")}/admin/v1/waits`;
  const response = await fetch(url, { headers: { [adminHeader]: "1", connection: "close" } });
  const { waits } = (await response.json()) as {
    readonly waits: readonly { readonly waiter: { readonly client: string } }[];
  };
  return waits.filter(({ waiter }) => waiter.client === "REST").length;
}

it(
  "lists the REST requests of all workers that wait for an SMB client",
  { timeout: 180_000 },
  async () => {
    const server = await startWorkers(temporaryFolder());
    const credential = new StorageSharedKeyCredential(
      developmentAccountName,
      developmentAccountKey,
    );
    const url = `${server.urlOf("file")}/${developmentAccountName}`;
    await new ShareServiceClient(url, credential).getShareClient("docs").create();
    const holder = await WireClient.ready(server.urlOf("smb"), "docs");
    const access = { access: Access.write, share: 7, disposition: 3, oplock: batchOplock };
    const opened = await holder.ask(createCommand, createBody("c.txt", access));
    // With a connection each, so that every worker gets some of them.
    const file = freshConnections(server.urlOf("file"));
    const reading = Array.from({ length: readers }, () =>
      file.send({ method: "GET", path: "/docs/c.txt" }),
    );
    await expect.poll(() => waitingReaders(server), { timeout: 20_000 }).toBe(readers);
    await acknowledgeOplock(holder, handleOf(opened), 1);
    const statuses = (await Promise.all(reading)).map(({ status }) => status);
    expect(statuses).toEqual(statuses.map(() => 200));
    await expect.poll(() => waitingReaders(server)).toBe(0);
    holder.end();
    await server.end();
  },
);

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import type { ContainerClient } from "@azure/storage-blob";
import { expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { adminHeader } from "../../src/admin/security/admin-auth.ts";
import { startCommand, type StartedCommand } from "../cli/start-command.ts";
import { program, portFlags } from "../harness/child-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { codeOf } from "../accounts/account-servers.ts";

const quotaBytes = 4 * 1024 * 1024;
const bytes = Buffer.alloc(16 * 1024, 1);
/** What each process may admit before it reads the counter again; here far less, 1/16 of what is
 *  free. */
const overshootBytesMax = 8 * 1024 * 1024;
const writersPerServer = 8;
const uploadsMax = 400;

const folder = temporaryFolder();
const config = join(folder, "config.json");
writeFileSync(config, JSON.stringify({ accounts: { [developmentAccountName]: { quotaBytes } } }));

const startServer = (): Promise<StartedCommand> =>
  startCommand([
    process.execPath,
    program,
    ...portFlags,
    `--location=${join(folder, "data")}`,
    `--config=${config}`,
  ]);

function containerOf(server: StartedCommand): ContainerClient {
  const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
  const retryOptions = { maxTries: 1 };
  const url = `${server.urlOf("blob")}/${developmentAccountName}`;
  return new BlobServiceClient(url, credential, { retryOptions }).getContainerClient("box");
}

async function usedBytes(server: StartedCommand): Promise<number | undefined> {
  const url = `${server.urlOf("admin")}/admin/v1/stored?account=${developmentAccountName}`;
  const response = await fetch(url, { headers: { [adminHeader]: "1" } });
  return ((await response.json()) as { usedBytes?: number }).usedBytes;
}

async function storedBytes(server: StartedCommand): Promise<number> {
  let sum = 0;
  for await (const { properties } of containerOf(server).listBlobsFlat()) {
    sum += properties.contentLength ?? 0;
  }
  return sum;
}

/** Uploads blobs until one is refused or the server is gone. Returns how many were accepted. */
async function fill(container: ContainerClient, name: string): Promise<number> {
  for (let count = 0; count < uploadsMax; count += 1) {
    const blob = container.getBlockBlobClient(`${name}-${count}`);
    if ((await codeOf(blob.upload(bytes, bytes.length))) !== "") return count;
  }
  throw new Error("no upload was refused");
}

function fillFrom(server: StartedCommand, name: string): Promise<readonly number[]> {
  const container = containerOf(server);
  const writers = Array.from({ length: writersPerServer }, (_, index) =>
    fill(container, `${name}${index}`),
  );
  return Promise.all(writers);
}

it(
  "keeps the quota and an exact count with two processes, one of which is killed while it writes",
  { timeout: 180_000 },
  async () => {
    const first = await startServer();
    const second = await startServer();
    await containerOf(first).create();
    const killed = fillFrom(second, "killed");
    // The kill comes between the uploads of the second process.
    await fill(containerOf(first), "alone").catch(() => {});
    await second.end("SIGKILL");
    await killed;
    const third = await startServer();
    await Promise.all([fillFrom(first, "first"), fillFrom(third, "third")]);
    const stored = await storedBytes(first);
    expect(await usedBytes(first)).toBe(stored);
    expect(await usedBytes(third)).toBe(stored);
    expect(stored).toBeGreaterThan(quotaBytes - 2 * bytes.length);
    expect(stored).toBeLessThanOrEqual(quotaBytes + overshootBytesMax);
    await Promise.all([first.end("SIGTERM"), third.end("SIGTERM")]);
  },
);

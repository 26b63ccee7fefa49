import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { FileSystemAttributes, ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { developmentAccountKey as key } from "../../src/account/settings.ts";
import { pattern } from "../harness/content-fixture.ts";
import type { EtagereServer, StartOptions } from "../../src/index.ts";

/** Settings under which records of all kinds occur. All accounts have the same key. */
export const accounts = {
  main: {
    keys: [key],
    versioning: true,
    containerSoftDeleteDays: 7,
    shareSoftDeleteDays: 7,
  },
  lake: { keys: [key], hierarchicalNamespace: true },
} as const satisfies StartOptions["accounts"];

export function connectionTo({ urls }: EtagereServer, account: string): string {
  const endpoints = (["blob", "queue", "table", "file"] as const).map(
    (name) => `${name[0]?.toUpperCase()}${name.slice(1)}Endpoint=${urls[name]}/${account};`,
  );
  return `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};${endpoints.join("")}`;
}

const bytes = (length: number, seed: number): Buffer => Buffer.from(pattern(length, seed));
const inAYear = (): Date => new Date(Date.now() + 365 * 86_400_000);

/** Data of every kind in both accounts, through the client libraries. */
export async function fillAccounts(server: EtagereServer): Promise<void> {
  const connection = connectionTo(server, "main");
  await fillBlobs(connection);
  await fillQueues(connection);
  await fillTables(server);
  await fillShares(connection);
  await fillLake(server);
}

async function fillBlobs(connection: string): Promise<void> {
  const service = BlobServiceClient.fromConnectionString(connection);
  await service.setProperties({
    deleteRetentionPolicy: { enabled: true, days: 5 },
    cors: [
      {
        allowedOrigins: "https://example.org",
        allowedMethods: "GET",
        allowedHeaders: "",
        exposedHeaders: "",
        maxAgeInSeconds: 60,
      },
    ],
  });
  const container = service.getContainerClient("first");
  await container.create({ access: "blob", metadata: { colour: "red" } });
  await container.setAccessPolicy("blob", [
    {
      id: "reader",
      accessPolicy: { permissions: "r", startsOn: new Date(0), expiresOn: inAYear() },
    },
  ]);
  await fillBlockBlobs(container);
  await fillPageAndAppendBlobs(container);
  const gone = service.getContainerClient("gone");
  await gone.create();
  await gone.getBlockBlobClient("inside").upload("x", 1);
  await gone.delete();
  await service.getContainerClient("empty").create();
}

async function fillBlockBlobs(container: ContainerClient): Promise<void> {
  const small = container.getBlockBlobClient("small ü %41");
  await small.upload("small", 5, {
    blobHTTPHeaders: { blobContentType: "text/plain", blobCacheControl: "no-cache" },
    metadata: { a: "b" },
    tags: { kind: "small" },
    tier: "Cool",
  });
  await small.upload("smaller", 7);
  await small.createSnapshot();
  const large = container.getBlockBlobClient("dir/large");
  await large.uploadData(bytes(9_000_000, 1), { blockSize: 1_000_000 });
  const { snapshot } = await large.createSnapshot();
  await large.createSnapshot();
  await large.setMetadata({ changed: "yes" });
  const blocks = container.getBlockBlobClient("blocks");
  for (const [index, id] of ["AAAA", "AAAB", "AAAC"].entries()) {
    await blocks.stageBlock(id, bytes(70_000 + index, index), 70_000 + index);
  }
  await blocks.commitBlockList(["AAAA", "AAAC"]);
  await blocks.stageBlock("AAAD", "uncommitted", 11);
  await blocks.stageBlock("AAAE", bytes(300_000, 9), 300_000);
  await container.getBlockBlobClient("only-staged").stageBlock("AAAA", bytes(5000, 4), 5000);
  const deleted = container.getBlockBlobClient("deleted");
  await deleted.upload(bytes(20_000, 5), 20_000);
  await deleted.delete();
  await large.withSnapshot(snapshot ?? "").delete();
  const held = container.getBlockBlobClient("held");
  await held.upload("held", 4);
  await held.setLegalHold(true);
  const immutable = container.getBlockBlobClient("immutable");
  await immutable.upload("immutable", 9);
  await immutable.setImmutabilityPolicy({ expiriesOn: inAYear(), policyMode: "Unlocked" });
  const leased = container.getBlockBlobClient("leased");
  await leased.upload("leased", 6);
  await leased.getBlobLeaseClient().acquireLease(-1);
  await container.getBlockBlobClient("empty").upload("", 0);
}

async function fillPageAndAppendBlobs(container: ContainerClient): Promise<void> {
  const pages = container.getPageBlobClient("pages");
  await pages.create(1024 * 1024, { blobSequenceNumber: 7 });
  for (let index = 0; index < 60; index += 1) {
    await pages.uploadPages(bytes(512, index), index * 4096, 512);
  }
  await pages.createSnapshot();
  await pages.uploadPages(bytes(1024, 3), 4096, 1024);
  await pages.clearPages(8192, 512);
  const log = container.getAppendBlobClient("log");
  await log.create();
  for (const length of [10, 5000, 200_000]) await log.appendBlock(bytes(length, length), length);
  await log.seal();
}

async function fillQueues(connection: string): Promise<void> {
  const service = QueueServiceClient.fromConnectionString(connection);
  const queue = service.getQueueClient("jobs");
  await queue.create({ metadata: { m: "1" } });
  for (let index = 0; index < 20; index += 1) {
    await queue.sendMessage(`message ${index} ${"x".repeat(index * 200)}`, {
      messageTimeToLive: index % 2 === 0 ? -1 : 86_400,
      visibilityTimeout: index === 19 ? 3600 : 0,
    });
  }
  await queue.receiveMessages({ numberOfMessages: 3, visibilityTimeout: 1800 });
  await queue.setAccessPolicy([
    { id: "q", accessPolicy: { permissions: "r", startsOn: new Date(0), expiresOn: inAYear() } },
  ]);
}

export function tableClient({ urls }: EtagereServer, account: string, name: string): TableClient {
  const credential = new AzureNamedKeyCredential(account, key);
  const options = { allowInsecureConnection: true };
  return new TableClient(`${urls.table}/${account}`, name, credential, options);
}

async function fillTables(server: EtagereServer): Promise<void> {
  const table = tableClient(server, "main", "People");
  await table.createTable();
  for (let index = 0; index < 20; index += 1) {
    await table.createEntity({
      partitionKey: "p'",
      rowKey: `row ${index} ü`,
      text: "t".repeat(index * 1000),
      int: index,
      double: index + 0.5,
      big: { type: "Int64", value: `${2n ** 60n + BigInt(index)}` },
      guid: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
      when: new Date(1_700_000_000_000),
      binary: bytes(50, index),
      flag: index % 2 === 0,
    });
  }
}

async function fillShares(connection: string): Promise<void> {
  const service = ShareServiceClient.fromConnectionString(connection);
  const share = service.getShareClient("docs");
  await share.create({ quota: 5, metadata: { s: "1" } });
  const { filePermissionKey = "" } = await share.createPermission(sddl);
  const directory = share.getDirectoryClient("Dir");
  await directory.create({ metadata: { d: "1" } });
  const file = directory.getFileClient("File.txt");
  await file.create(1_000_000, {
    filePermissionKey,
    fileAttributes: FileSystemAttributes.parse("Archive|Hidden"),
    creationTime: new Date(1_600_000_000_000),
    lastWriteTime: new Date(1_600_000_100_000),
    fileHttpHeaders: { fileContentType: "text/plain" },
    metadata: { f: "1" },
  });
  await file.uploadRange(bytes(50_000, 3), 1000, 50_000);
  await file.uploadRange(bytes(70_000, 4), 700_000, 70_000);
  await share.createSnapshot();
  await file.uploadRange(bytes(600, 5), 2000, 600);
  await file.clearRange(700_000, 4096);
  await directory.getFileClient("second").create(10);
  await share.createSnapshot();
  const gone = service.getShareClient("gone");
  await gone.create();
  await gone.rootDirectoryClient.getFileClient("f").create(0);
  await gone.delete();
  await fillNfsShare(service);
}

const sddl = "O:S-1-5-21-1-2-3-500G:S-1-5-21-1-2-3-513D:(A;;FA;;;S-1-5-21-1-2-3-500)";

async function fillNfsShare(service: ShareServiceClient): Promise<void> {
  const share = service.getShareClient("nfs");
  await share.create({ protocols: { nfsEnabled: true } });
  const root = share.rootDirectoryClient;
  await root.getFileClient("target").create(10);
  await root.getFileClient("target").uploadRange("0123456789", 0, 10);
  await root.getFileClient("hard").createHardLink("target");
  await root.getFileClient("soft").createSymbolicLink("target");
}

async function fillLake({ urls }: EtagereServer): Promise<void> {
  const credential = new StorageSharedKeyCredential("lake", key);
  const service = new DataLakeServiceClient(`${urls.dfs}/lake`, credential);
  const filesystem = service.getFileSystemClient("files");
  await filesystem.create();
  const file = filesystem.getFileClient("a/b/c/file");
  await file.create({ metadata: { l: "1" } });
  await file.append(bytes(200_000, 7), 0, 200_000);
  await file.flush(200_000);
  await file.append("not flushed", 200_000, 11);
  await filesystem.getFileClient("a/other").upload(bytes(10, 1));
  await filesystem.getDirectoryClient("a/b").setPermissions({
    owner: { read: true, write: true, execute: true },
    group: { read: true, write: false, execute: true },
    other: { read: false, write: false, execute: false },
    stickyBit: true,
    extendedAcls: false,
  });
  await filesystem.getDirectoryClient("moved/deep").create();
  await filesystem.getFileClient("moved/deep/x").upload(bytes(100, 2));
  await filesystem.getDirectoryClient("moved").move("renamed");
}

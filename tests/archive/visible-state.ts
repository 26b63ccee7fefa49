import { BlobServiceClient } from "@azure/storage-blob";
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { ShareServiceClient, type ShareDirectoryClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { developmentAccountKey as key } from "../../src/account/settings.ts";
import type { EtagereServer } from "../../src/index.ts";
import { connectionTo, tableClient } from "./fill-accounts.ts";

type State = Record<string, unknown>;

const digest = (bytes: Buffer): string => `${bytes.length} ${bytes.toString("base64").slice(-400)}`;

/** What clients see of the accounts `main` and `lake`, with bytes, ETags and times. */
export async function visibleState(server: EtagereServer): Promise<Readonly<State>> {
  const connection = connectionTo(server, "main");
  const found: State = {};
  await seeBlobs(connection, found);
  await seeQueues(connection, found);
  for await (const entity of tableClient(server, "main", "people").listEntities()) {
    found[`entity ${entity.rowKey}`] = entity;
  }
  const shares = ShareServiceClient.fromConnectionString(connection);
  for await (const { name, snapshot, properties } of shares.listShares({
    includeSnapshots: true,
  })) {
    found[`share ${name} ${snapshot}`] = [properties.etag, properties.quota];
    const share = shares.getShareClient(name);
    const root = snapshot ? share.withSnapshot(snapshot) : share;
    await seeFiles(root.rootDirectoryClient, `${name} ${snapshot}`, found);
  }
  await seePaths(server, found);
  return found;
}

async function seeBlobs(connection: string, found: State): Promise<void> {
  const service = BlobServiceClient.fromConnectionString(connection);
  const { cors, deleteRetentionPolicy } = await service.getProperties();
  found["properties"] = [cors, deleteRetentionPolicy];
  for await (const item of service.listContainers({
    includeDeleted: true,
    includeMetadata: true,
  })) {
    const { etag, lastModified, publicAccess } = item.properties;
    const shown = [etag, lastModified, publicAccess, item.metadata, item.deleted];
    found[`container ${item.name}`] = shown;
  }
  const container = service.getContainerClient("first");
  const { signedIdentifiers } = await container.getAccessPolicy();
  found["policies"] = signedIdentifiers;
  const includes = {
    includeSnapshots: true,
    includeVersions: true,
    includeDeleted: true,
    includeMetadata: true,
    includeTags: true,
    includeUncommitedBlobs: true,
    includeImmutabilityPolicy: true,
    includeLegalHold: true,
  };
  for await (const item of container.listBlobsFlat(includes)) {
    const id = `${item.name} ${item.snapshot} ${item.versionId} ${item.deleted}`;
    const {
      leaseState: _state,
      leaseStatus: _status,
      leaseDuration: _time,
      ...rest
    } = item.properties;
    found[`blob ${id}`] = { ...item, properties: rest };
    if (item.deleted || item.properties.blobType === undefined) continue;
    const base = container.getBlobClient(item.name);
    const state = item.snapshot
      ? base.withSnapshot(item.snapshot)
      : base.withVersion(item.versionId ?? "");
    if (item.properties.contentLength === 0) continue;
    found[`bytes ${id}`] = digest(await state.downloadToBuffer());
  }
  const blocks = await container.getBlockBlobClient("blocks").getBlockList("all");
  found["blocks"] = [blocks.committedBlocks, blocks.uncommittedBlocks];
  const pages = await container.getPageBlobClient("pages").getPageRanges();
  found["pages"] = [pages.pageRange, pages.clearRange];
}

async function seeQueues(connection: string, found: State): Promise<void> {
  const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient("jobs");
  const { approximateMessagesCount, metadata } = await queue.getProperties();
  found["queue"] = [approximateMessagesCount, metadata];
  const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
  found["messages"] = peekedMessageItems;
}

async function seeFiles(
  directory: ShareDirectoryClient,
  path: string,
  found: State,
): Promise<void> {
  for await (const item of directory.listFilesAndDirectories()) {
    const name = `${path}/${item.name}`;
    if (item.kind === "directory") {
      await seeFiles(directory.getDirectoryClient(item.name), name, found);
      continue;
    }
    const file = directory.getFileClient(item.name);
    const { etag, lastModified, metadata, filePermissionKey, fileAttributes, fileCreatedOn } =
      await file.getProperties();
    const shown = {
      etag,
      lastModified,
      metadata,
      filePermissionKey,
      fileAttributes,
      fileCreatedOn,
    };
    found[`file ${name}`] = shown;
    if ((item.properties.contentLength ?? 0) > 0) {
      found[`file bytes ${name}`] = digest(await file.downloadToBuffer());
      found[`file ranges ${name}`] = (await file.getRangeList()).rangeList;
    }
  }
}

async function seePaths({ urls }: EtagereServer, found: State): Promise<void> {
  const credential = new StorageSharedKeyCredential("lake", key);
  const service = new DataLakeServiceClient(`${urls.dfs}/lake`, credential);
  const filesystem = service.getFileSystemClient("files");
  for await (const item of filesystem.listPaths({ recursive: true })) {
    const { name = "", isDirectory = false } = item;
    const client = isDirectory
      ? filesystem.getDirectoryClient(name)
      : filesystem.getFileClient(name);
    const { acl, owner, group, permissions } = await client.getAccessControl();
    found[`path ${name}`] = { ...item, acl, owner, group, permissions };
    if (!isDirectory) {
      found[`path bytes ${name}`] = digest(await filesystem.getFileClient(name).readToBuffer());
    }
  }
}

import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { flagDefaults } from "../../src/server/flags.ts";
import { smbclient } from "../smb/run-smbclient.ts";

function connectionString(host: string): string {
  const { blobPort, queuePort, tablePort, filePort } = flagDefaults;
  const ports = { Blob: blobPort, Queue: queuePort, Table: tablePort, File: filePort };
  const endpoints = Object.entries(ports).map(
    ([name, port]) => `${name}Endpoint=http://${host}:${port}/${developmentAccountName}`,
  );
  return [
    "DefaultEndpointsProtocol=http",
    `AccountName=${developmentAccountName}`,
    `AccountKey=${developmentAccountKey}`,
    ...endpoints,
  ].join(";");
}

function clientsOf(host: string) {
  const text = connectionString(host);
  const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
  const lake = `http://${host}:${flagDefaults.dfsPort}/${developmentAccountName}`;
  return {
    blobs: BlobServiceClient.fromConnectionString(text),
    queues: QueueServiceClient.fromConnectionString(text),
    shares: ShareServiceClient.fromConnectionString(text),
    lake: new DataLakeServiceClient(lake, credential),
    table: (name: string) =>
      TableClient.fromConnectionString(text, name, { allowInsecureConnection: true }),
  };
}

/** Stores `name` in each service with the official clients, and over SMB. */
export async function writeToAll(host: string, name: string): Promise<void> {
  const { blobs, queues, shares, lake, table } = clientsOf(host);
  const container = blobs.getContainerClient(name);
  await container.create();
  await container.getBlockBlobClient("blob").upload(name, name.length);
  const filesystem = lake.getFileSystemClient(`lake${name}`);
  await filesystem.create();
  const path = filesystem.getFileClient("path");
  await path.create();
  await path.append(name, 0, name.length);
  await path.flush(name.length);
  const queue = queues.getQueueClient(name);
  await queue.create();
  await queue.sendMessage(name);
  await table(name).createTable();
  await table(name).createEntity({ partitionKey: "p", rowKey: "r", text: name });
  const share = shares.getShareClient(name);
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(name.length);
  await file.uploadRange(name, 0, name.length);
  await runSmb(host, name, "mkdir over-smb");
}

/** What `writeToAll` has stored, as the clients read it. */
export async function readFromAll(host: string, name: string): Promise<object> {
  const { blobs, queues, shares, lake, table } = clientsOf(host);
  const blob = await blobs.getContainerClient(name).getBlockBlobClient("blob").downloadToBuffer();
  const path = lake.getFileSystemClient(`lake${name}`).getFileClient("path");
  const peeked = await queues.getQueueClient(name).peekMessages();
  const entity = await table(name).getEntity<{ text: string }>("p", "r");
  const file = shares.getShareClient(name).rootDirectoryClient.getFileClient("file");
  return {
    blob: blob.toString(),
    path: (await path.readToBuffer()).toString(),
    message: peeked.peekedMessageItems[0]?.messageText,
    entity: entity.text,
    file: (await file.downloadToBuffer()).toString(),
    smb: (await runSmb(host, name, "ls")).match(/\b(file|over-smb)\b/g)?.toSorted(),
  };
}

/** The result of `readFromAll` if nothing is missing. */
export function allOf(name: string): object {
  const smb = ["file", "over-smb"];
  return { blob: name, path: name, message: name, entity: name, file: name, smb };
}

function runSmb(host: string, share: string, commands: string): Promise<string> {
  return smbclient({ smbUrl: `smb://${host}:${flagDefaults.smbPort}`, share }, commands);
}

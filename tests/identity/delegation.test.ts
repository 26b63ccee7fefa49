import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AnonymousCredential,
  BlobClient,
  BlobSASPermissions,
  generateBlobSASQueryParameters,
  SASProtocol,
} from "@azure/storage-blob";
import {
  ShareFileClient,
  ShareSASPermissions,
  ShareServiceClient,
} from "@azure/storage-file-share";
import { QueueClient, QueueSASPermissions } from "@azure/storage-queue";
import { expect, it } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { start } from "../../src/index.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { credentialWorld, endpointCredential, setEnvironment } from "./credential-world.ts";

const { options, trusting, clientsOf } = credentialWorld();
const secret = "a-secret-of-the-application";

it("a delegation SAS stops working when its signer loses the role", async () => {
  const config = join(temporaryFolder(), "config.json");
  const configure = (role: string): void => {
    const principals = { app: { objectId: "o1" } };
    const roleAssignments = [{ principal: "app", role }];
    const managedIdentity = { principal: "app", secret };
    writeFileSync(config, JSON.stringify({ principals, roleAssignments, managedIdentity }));
  };
  configure("Storage Blob Data Contributor");
  await using server = await start({ ...options, config });
  await setEnvironment(server);
  const { blobs } = clientsOf(server, endpointCredential());
  const container = blobs.getContainerClient("one");
  await container.create();
  const blob = container.getBlockBlobClient("blob");
  await blob.upload("text", 4);
  const startsOn = new Date(Date.now() - 60_000);
  const expiresOn = new Date(Date.now() + 3_600_000);
  const delegation = await blobs.getUserDelegationKey(startsOn, expiresOn);
  expect(delegation.signedObjectId).toBe("o1");
  const sas = generateBlobSASQueryParameters(
    {
      containerName: "one",
      blobName: "blob",
      permissions: BlobSASPermissions.parse("rw"),
      startsOn,
      expiresOn,
      protocol: SASProtocol.Https,
    },
    delegation,
    developmentAccountName,
  );
  const signed = new BlobClient(
    `${blob.url}?${sas.toString()}`,
    new AnonymousCredential(),
    trusting,
  );
  expect((await signed.downloadToBuffer()).toString()).toBe("text");
  await signed.getBlockBlobClient().upload("more", 4);
  configure("Storage Blob Data Reader");
  await server.reload();
  const refused = { statusCode: 403, code: "AuthorizationPermissionMismatch" };
  await expect(signed.getBlockBlobClient().upload("none", 4)).rejects.toMatchObject(refused);
  await expect(blob.upload("none", 4)).rejects.toMatchObject(refused);
  expect((await signed.downloadToBuffer()).toString()).toBe("more");
  configure("Storage Queue Data Reader");
  await server.reload();
  await expect(signed.getProperties()).rejects.toMatchObject({ statusCode: 403 });
});

const hour = 3_600_000;

/** A server whose application may read and write files and queues, and its clients. */
async function serverWithFiles() {
  const config = join(temporaryFolder(), "config.json");
  const principals = { app: { objectId: "o1" } };
  const roles = [
    "Storage File Data Privileged Contributor",
    "Storage Account Contributor",
    "Storage Queue Data Contributor",
  ];
  const roleAssignments = roles.map((role) => ({ principal: "app", role }));
  const managedIdentity = { principal: "app", secret };
  writeFileSync(config, JSON.stringify({ principals, roleAssignments, managedIdentity }));
  const server = await start({ ...options, config });
  await setEnvironment(server);
  return server;
}

it("the File service needs an intent for files, but not for shares and delegation keys", async () => {
  await using server = await serverWithFiles();
  const url = `${server.urls.file}/${developmentAccountName}`;
  const withoutIntent = new ShareServiceClient(url, endpointCredential(), trusting as object);
  const share = withoutIntent.getShareClient("one");
  await share.create();
  await share.getProperties();
  const key = await withoutIntent.getUserDelegationKey(new Date(), new Date(Date.now() + hour));
  expect(key.signedService).toBe("f");
  const refused = { statusCode: 400, code: "MissingRequiredHeader" };
  await expect(share.createPermission("O:SYG:SYD:(A;;FA;;;SY)")).rejects.toMatchObject(refused);
  await expect(share.getDirectoryClient("d").create()).rejects.toMatchObject(refused);
  await share.delete();
});

it("a delegation SAS permits reading and writing a file", async () => {
  await using server = await serverWithFiles();
  const url = `${server.urls.file}/${developmentAccountName}`;
  const pipeline = { ...(trusting as object), fileRequestIntent: "backup" as const };
  const service = new ShareServiceClient(url, endpointCredential(), pipeline);
  const share = service.getShareClient("one");
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(4);
  const startsOn = new Date(Date.now() - 60_000);
  const expiresOn = new Date(Date.now() + hour);
  const delegation = await service.getUserDelegationKey(startsOn, expiresOn);
  const permissions = ShareSASPermissions.parse("rw");
  const signed = new ShareFileClient(
    file.generateUserDelegationSasUrl({ permissions, startsOn, expiresOn }, delegation),
    undefined,
    trusting as object,
  );
  await signed.uploadRange("text", 0, 4);
  expect((await signed.downloadToBuffer()).toString()).toBe("text");
  await expect(signed.delete()).rejects.toMatchObject({ statusCode: 403 });
});

it("a delegation SAS permits adding and reading messages", async () => {
  await using server = await serverWithFiles();
  const { queues } = clientsOf(server, endpointCredential());
  const queue = queues.getQueueClient("one");
  await queue.create();
  const startsOn = new Date(Date.now() - 60_000);
  const expiresOn = new Date(Date.now() + hour);
  const delegation = await queues.getUserDelegationKey(startsOn, expiresOn);
  const permissions = QueueSASPermissions.parse("ar");
  const signed = new QueueClient(
    queue.generateUserDelegationSasUrl({ permissions, startsOn, expiresOn }, delegation),
    undefined,
    trusting as object,
  );
  await signed.sendMessage("text");
  expect((await signed.peekMessages()).peekedMessageItems[0]?.messageText).toBe("text");
  await expect(signed.clearMessages()).rejects.toMatchObject({ statusCode: 403 });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AnonymousCredential,
  BlobClient,
  BlobSASPermissions,
  generateBlobSASQueryParameters,
  SASProtocol,
} from "@azure/storage-blob";
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

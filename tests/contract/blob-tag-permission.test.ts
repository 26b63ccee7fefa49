import {
  BlobServiceClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { testServer } from "../harness/server.ts";

const held = testServer();
const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);

it.each([
  { letters: "rcwt", status: 201 },
  { letters: "rcw", status: 403 },
])("a SAS with $letters that sets tags gets $status", async ({ letters, status }) => {
  const service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  const containerName = `tags-${letters}`;
  const container = service.getContainerClient(containerName);
  await container.create();
  const permissions = ContainerSASPermissions.parse(letters);
  const expiresOn = new Date("2099-01-01");
  const sas = generateBlobSASQueryParameters({ containerName, permissions, expiresOn }, credential);
  const answer = await fetch(`${container.url}/b?${sas.toString()}`, {
    method: "PUT",
    headers: { "x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02", "x-ms-tags": "a=b" },
    body: "x",
  });
  expect(answer.status).toBe(status);
  if (status === 403) {
    expect(answer.headers.get("x-ms-error-code")).toBe("AuthorizationPermissionMismatch");
  }
});

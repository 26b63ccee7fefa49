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

/** A container and the query of a SAS for it with these permissions. */
async function containerWithSas(containerName: string, letters: string) {
  const service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  const container = service.getContainerClient(containerName);
  await container.create();
  const permissions = ContainerSASPermissions.parse(letters);
  const expiresOn = new Date("2099-01-01");
  const sas = generateBlobSASQueryParameters({ containerName, permissions, expiresOn }, credential);
  return { container, sas: sas.toString() };
}

const version = { "x-ms-version": "2021-12-02" };

it.each([
  { letters: "rcwt", status: 201 },
  { letters: "rcw", status: 403 },
])("a SAS with $letters that sets tags gets $status", async ({ letters, status }) => {
  const { container, sas } = await containerWithSas(`tags-${letters}`, letters);
  const answer = await fetch(`${container.url}/b?${sas}`, {
    method: "PUT",
    headers: { "x-ms-blob-type": "BlockBlob", ...version, "x-ms-tags": "a=b" },
    body: "x",
  });
  expect(answer.status).toBe(status);
  if (status === 403) {
    expect(answer.headers.get("x-ms-error-code")).toBe("AuthorizationPermissionMismatch");
  }
});

it.each([
  { header: "x-ms-if-tags", value: "\"a\" = 'b'", comp: "", status: 403 },
  // The operation does not have this header.
  { header: "x-ms-tags", value: "a=b", comp: "", status: 200 },
  {
    header: "x-ms-if-tags",
    value: "\"a\" = 'b'",
    comp: "&comp=list&restype=container",
    status: 200,
  },
])("a SAS without t gets $status for $header of GET b$comp", async (row) => {
  const { container, sas } = await containerWithSas(`read-${row.status}-${row.comp.length}`, "rl");
  await container.getBlockBlobClient("b").upload("x", 1, { tags: { a: "b" } });
  const path = row.comp === "" ? "/b" : "";
  const answer = await fetch(`${container.url}${path}?${sas}${row.comp}`, {
    headers: { ...version, [row.header]: row.value },
  });
  expect(answer.status).toBe(row.status);
});

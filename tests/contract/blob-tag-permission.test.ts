import {
  BlobSASPermissions,
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

it("a SAS with only c stages and commits blocks of a new blob, not of an existing one", async () => {
  const { container, sas } = await containerWithSas("create-only", "c");
  const source = container.getBlockBlobClient("source");
  await source.upload("x", 1);
  const read = await source.generateSasUrl({
    permissions: BlobSASPermissions.parse("r"),
    expiresOn: new Date("2099-01-01"),
  });
  const send = async (blob: string, query: string, headers: object, body?: string) => {
    const request = { method: "PUT", headers: { ...version, ...headers } };
    const url = `${container.url}/${blob}?${query}&${sas}`;
    const answer = await fetch(url, body === undefined ? request : { ...request, body });
    return [answer.status, answer.headers.get("x-ms-error-code")];
  };
  const all = (blob: string) =>
    [
      ["comp=block&blockid=YQ==", {}, "x"],
      ["comp=block&blockid=Yg==", { "x-ms-copy-source": read }],
      ["comp=blocklist", {}, "<BlockList><Latest>YQ==</Latest><Latest>Yg==</Latest></BlockList>"],
    ].map(([query, headers, body]) => [blob, query, headers, body] as Parameters<typeof send>);
  for (const call of all("new")) expect(await send(...call)).toEqual([201, null]);
  for (const call of all("new")) {
    expect(await send(...call)).toEqual([403, "UnauthorizedBlobOverwrite"]);
  }
  expect((await container.getBlobClient("new").downloadToBuffer()).toString()).toBe("xx");
});

it("Get Account Information accepts the SAS of a container on its URL", async () => {
  const { container, sas } = await containerWithSas("information", "r");
  for (const slash of ["", "/"]) {
    const url = `${container.url}${slash}?restype=account&comp=properties&${sas}`;
    const answer = await fetch(url, { headers: version });
    expect([answer.status, answer.headers.get("x-ms-account-kind")]).toEqual([200, "StorageV2"]);
  }
});

it("Get Blob Tags returns the tags in the order of their keys", async () => {
  const { container, sas } = await containerWithSas("order", "t");
  const blob = container.getBlockBlobClient("b");
  await blob.upload("x", 1, { tags: { b: "1", a: "2", "10": "3", "9": "4", B: "5" } });
  const answer = await fetch(`${blob.url}?comp=tags&${sas}`, { headers: version });
  const text = await answer.text();
  const order = [...text.matchAll(/<Key>(\w+)<\/Key>/g)].map(([, key]) => key);
  expect(order).toEqual(["10", "9", "B", "a", "b"]);
});

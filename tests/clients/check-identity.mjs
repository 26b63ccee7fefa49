// DefaultAzureCredential without an account key: `writes` as a contributor, then `refused`.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { TableClient } from "@azure/data-tables";
import { DefaultAzureCredential } from "@azure/identity";
import {
  BlobSASPermissions,
  BlobServiceClient,
  BlockBlobClient,
  generateBlobSASQueryParameters,
  SASProtocol,
} from "@azure/storage-blob";

const account = "devstoreaccount1";
const name = "javascript";
const hour = 3_600_000;
const { BLOB_URL, TABLE_URL } = process.env;
const credential = new DefaultAzureCredential({ disableInstanceDiscovery: true });
const blobs = new BlobServiceClient(`${BLOB_URL}/${account}`, credential);
const blob = blobs.getContainerClient(name).getBlockBlobClient("blob");
const table = new TableClient(`${TABLE_URL}/${account}`, name, credential);

await { writes, refused }[process.argv[2]]();
console.log("ok");

async function writes() {
  await blobs.createContainer(name);
  await blob.upload("text", 4);
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(15);
  await expect(412, blob.upload("lost", 4));
  await lease.releaseLease();
  assert.equal(await textOf(blob), "text");
  await table.createTable();
  await table.submitTransaction([create("1"), create("2")]);
  assert.equal((await table.getEntity("p", "2")).value, 2);
  const url = await sign();
  await new BlockBlobClient(url).upload("more", 4);
  writeFileSync("sas", url);
}

async function refused() {
  assert.equal(await textOf(blob), "more");
  await expect(403, blob.upload("none", 4));
  await expect(403, table.submitTransaction([create("3")]));
  const signed = new BlockBlobClient(readFileSync("sas", "utf8"));
  await expect(403, signed.upload("none", 4));
  assert.equal(await textOf(signed), "more");
}

async function sign() {
  const startsOn = new Date(Date.now() - 60_000);
  const expiresOn = new Date(Date.now() + hour);
  const key = await blobs.getUserDelegationKey(startsOn, expiresOn);
  const permissions = BlobSASPermissions.parse("rw");
  const protocol = SASProtocol.Https;
  const values = {
    containerName: name,
    blobName: "blob",
    permissions,
    startsOn,
    expiresOn,
    protocol,
  };
  return `${blob.url}?${generateBlobSASQueryParameters(values, key, account).toString()}`;
}

function create(rowKey) {
  return ["create", { partitionKey: "p", rowKey, value: Number(rowKey) }];
}

async function textOf(client) {
  return (await client.downloadToBuffer()).toString();
}

async function expect(status, acting) {
  await assert.rejects(acting, (error) => error.statusCode === status);
}

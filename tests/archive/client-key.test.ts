import { createHash, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { BlobServiceClient, type CpkInfo, type StoragePipelineOptions } from "@azure/storage-blob";
import { afterAll, describe, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "../https/certificate.ts";

const folder = temporaryFolder();
const { folder: certificates, cert, key, ca } = makeCertificate();
const trusting = { tlsOptions: { ca } } as object as StoragePipelineOptions;
const secret = randomBytes(32);
const customerProvidedKey: CpkInfo = {
  encryptionKey: secret.toString("base64"),
  encryptionKeySha256: createHash("sha256").update(secret).digest("base64"),
  encryptionAlgorithm: "AES256",
};
const options = { port: 0, noSmb: true, inMemoryPersistence: true, cert, key } as const;

afterAll(() => rmSync(certificates, { recursive: true, force: true }));

function containerOf(connection: string) {
  return BlobServiceClient.fromConnectionString(connection, trusting).getContainerClient("secrets");
}

describe("blobs with a customer-provided key", () => {
  it("stay encrypted in the archive, and are read with the key after a load", async () => {
    const archive = join(folder, "encrypted.etagere");
    const bodies = new Map(
      [1, 300, 5000, 6_000_000].map((size) => [`b${size}`, randomBytes(size)]),
    );
    await using source = await start(options);
    const container = containerOf(source.connectionString);
    await container.create();
    for (const [name, body] of bodies) {
      await container.getBlockBlobClient(name).upload(body, body.length, { customerProvidedKey });
    }
    await source.export(archive);
    await using target = await start(options);
    await target.load(archive);
    const loaded = containerOf(target.connectionString);
    for (const [name, body] of bodies) {
      const blob = loaded.getBlobClient(name);
      const read = await blob.downloadToBuffer(0, undefined, { customerProvidedKey });
      expect(read.equals(body)).toBe(true);
      await expect(blob.download()).rejects.toMatchObject({ statusCode: 409 });
    }
  });
});

import { createHash, randomBytes } from "node:crypto";
import { BlobServiceClient } from "@azure/storage-blob";
import type { ContainerClient, CpkInfo, StoragePipelineOptions } from "@azure/storage-blob";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "../../src/index.ts";
import { freePorts, freshName, testServer } from "../harness/server.ts";
import { makeCertificate } from "./certificate.ts";

function keyOf(bytes: Buffer): CpkInfo {
  return {
    encryptionKey: bytes.toString("base64"),
    encryptionKeySha256: createHash("sha256").update(bytes).digest("base64"),
    encryptionAlgorithm: "AES256",
  };
}

const mine = keyOf(randomBytes(32));
const other = keyOf(randomBytes(32));
/** Client libraries send a key over HTTPS only. */
const { folder: certificates, cert, key, ca } = makeCertificate();
const held = testServer({ cert, key });
const trusting = { tlsOptions: { ca } } as object as StoragePipelineOptions;
let container: ContainerClient;

beforeAll(async () => {
  const service = BlobServiceClient.fromConnectionString(held.server.connectionString, trusting);
  container = service.getContainerClient(freshName("cpk"));
  await container.create();
});

afterAll(() => rmSync(certificates, { recursive: true, force: true }));

const sizes = [1, 15, 4096, 4097, 300_000];

describe("a customer-provided key", () => {
  it.each(sizes)("decrypts %i bytes at every offset", async (size) => {
    const bytes = randomBytes(size);
    const blob = container.getBlockBlobClient(`size${size}`);
    await blob.upload(bytes, size, { customerProvidedKey: mine });
    const options = { customerProvidedKey: mine };
    expect(await blob.downloadToBuffer(0, undefined, options)).toEqual(bytes);
    for (const from of [0, 1, 7, 16, 31, 4095, 262_143].filter((offset) => offset < size)) {
      const length = Math.min(size - from, 50_001);
      const part = await blob.downloadToBuffer(from, length, options);
      expect(part).toEqual(bytes.subarray(from, from + length));
    }
  });

  it("is required for every read and change, and no other key is accepted", async () => {
    const blob = container.getBlockBlobClient("asked");
    await blob.upload("secret", 6, { customerProvidedKey: mine });
    const missing = { statusCode: 409, code: "BlobUsesCustomerSpecifiedEncryption" };
    const wrong = { statusCode: 409, code: "BlobCustomerSpecifiedEncryptionMismatch" };
    await expect(blob.download()).rejects.toMatchObject(missing);
    await expect(blob.getProperties()).rejects.toMatchObject({ statusCode: 409 });
    await expect(blob.setMetadata({ a: "b" })).rejects.toMatchObject(missing);
    await expect(blob.createSnapshot()).rejects.toMatchObject(missing);
    const badKey = { customerProvidedKey: other };
    await expect(blob.download(0, undefined, badKey)).rejects.toMatchObject(wrong);
    await expect(blob.createSnapshot(badKey)).rejects.toMatchObject(wrong);
    const { snapshot } = await blob.createSnapshot({ customerProvidedKey: mine });
    const frozen = blob.withSnapshot(snapshot ?? "");
    await expect(frozen.download()).rejects.toMatchObject(missing);
    const opened = await frozen.downloadToBuffer(0, undefined, { customerProvidedKey: mine });
    expect(opened.toString()).toBe("secret");
  });

  it("is rejected if not needed or if it does not match its hash", async () => {
    const blob = container.getBlockBlobClient("open");
    await blob.upload("open", 4);
    await expect(blob.download(0, undefined, { customerProvidedKey: mine })).rejects.toMatchObject({
      code: "BlobDoesNotUseCustomerSpecifiedEncryption",
    });
    const torn = { ...mine, encryptionKeySha256: other.encryptionKeySha256 ?? "" };
    await expect(blob.upload("x", 1, { customerProvidedKey: torn })).rejects.toMatchObject({
      statusCode: 400,
    });
  });

  it("decrypts blocks, appends and pages that were encrypted separately", async () => {
    const options = { customerProvidedKey: mine };
    const parts = [randomBytes(10), randomBytes(70_000), randomBytes(300)];
    const block = container.getBlockBlobClient("blocks");
    const ids = ["MDE=", "MDI=", "MDM="];
    for (const [i, part] of parts.entries()) {
      await block.stageBlock(ids[i] ?? "", part, part.length, options);
    }
    await expect(block.commitBlockList(ids)).rejects.toMatchObject({ statusCode: 409 });
    await block.commitBlockList(ids, options);
    const whole = Buffer.concat(parts);
    expect(await block.downloadToBuffer(0, undefined, options)).toEqual(whole);
    expect(await block.downloadToBuffer(5, 60_000, options)).toEqual(whole.subarray(5, 60_005));

    const append = container.getAppendBlobClient("appends");
    await append.create(options);
    for (const part of parts) await append.appendBlock(part, part.length, options);
    expect(await append.downloadToBuffer(0, undefined, options)).toEqual(whole);

    const page = container.getPageBlobClient("pages");
    await page.create(4096, options);
    const pages = randomBytes(1536);
    await page.uploadPages(pages, 512, 1536, options);
    await page.uploadPages(pages.subarray(0, 512), 1024, 512, options);
    const read = await page.downloadToBuffer(0, undefined, options);
    const expected = Buffer.alloc(4096);
    pages.copy(expected, 512);
    pages.copy(expected, 1024, 0, 512);
    expect(read).toEqual(expected);
  });

  it("keeps plaintext out of the server's files", async () => {
    const location = mkdtempSync(join(tmpdir(), "etagere-cpk-"));
    const server = await start({ ...freePorts, location, cert, key });
    try {
      const service = BlobServiceClient.fromConnectionString(server.connectionString, trusting);
      const there = service.getContainerClient("secrets");
      await there.create();
      for (const size of [64, 3000, 40_000]) {
        const text = Buffer.from("plainly visible text ".repeat(size / 20));
        await there.getBlockBlobClient(`s${size}`).upload(text, text.length, {
          customerProvidedKey: mine,
        });
      }
      await there.getBlockBlobClient("control").upload("control text".repeat(1000), 12_000);
    } finally {
      await server.stop();
    }
    const stored = filesBelow(location).map((path) => readFileSync(path).toString("latin1"));
    expect(stored.some((text) => text.includes("control text"))).toBe(true);
    expect(stored.some((text) => text.includes("plainly visible"))).toBe(false);
    rmSync(location, { recursive: true });
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}

describe("an encryption scope", () => {
  it("is stored by name, and a container may enforce its own", async () => {
    const service = BlobServiceClient.fromConnectionString(held.server.connectionString, trusting);
    const scoped = service.getContainerClient(freshName("scope"));
    await scoped.create({
      containerEncryptionScope: {
        defaultEncryptionScope: "first",
        preventEncryptionScopeOverride: true,
      },
    });
    const blob = scoped.getBlockBlobClient("b");
    await blob.upload("x", 1);
    expect((await blob.getProperties()).encryptionScope).toBe("first");
    await expect(blob.upload("x", 1, { encryptionScope: "second" })).rejects.toMatchObject({
      statusCode: 403,
    });
    const free = container.getBlockBlobClient("scoped");
    await free.upload("x", 1, { encryptionScope: "second" });
    expect((await free.getProperties()).encryptionScope).toBe("second");
  });
});

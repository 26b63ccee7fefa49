import { BlobServiceClient, type BlockBlobClient, type ContainerClient } from "@azure/storage-blob";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";

const kept = testServer({
  accounts: { devstoreaccount1: { versioning: true } },
});
const plain = testServer();

const far = new Date("2099-01-01T00:00:00Z");

describe.each([
  ["where versions are kept", kept, true],
  ["where they are not", plain, false],
] as const)("a protected blob, %s", (_where, held, versioning) => {
  let container: ContainerClient;
  let blob: BlockBlobClient;

  beforeAll(() => {
    const service = BlobServiceClient.fromConnectionString(held.server.connectionString);
    container = service.getContainerClient(freshName("held"));
  });
  beforeEach(async () => {
    await container.createIfNotExists();
    blob = container.getBlockBlobClient(freshName("blob"));
    await blob.upload("text", 4);
  });

  it("under a legal hold can be neither deleted nor changed until the hold is removed", async () => {
    await blob.setLegalHold(true);
    const refused = { statusCode: 409, code: "BlobImmutableDueToLegalHold" };
    await expect(blob.delete()).rejects.toMatchObject(refused);
    await expect(blob.setHTTPHeaders({ blobContentType: "a/b" })).rejects.toMatchObject(refused);
    await expect(blob.setMetadata({ a: "b" })).rejects.toMatchObject(refused);
    await expect(container.delete()).rejects.toMatchObject(refused);
    expect((await blob.downloadToBuffer()).toString()).toBe("text");
    expect((await blob.getProperties()).legalHold).toBe(true);
    await blob.setTags({ still: "allowed" });
    await blob.setLegalHold(false);
    await blob.delete();
  });

  it("under an immutability policy keeps its bytes when overwritten", async () => {
    await blob.setImmutabilityPolicy({ expiriesOn: far, policyMode: "Unlocked" });
    const refused = { statusCode: 409, code: "BlobImmutableDueToPolicy" };
    await expect(blob.delete()).rejects.toMatchObject(refused);
    if (versioning) {
      const { versionId } = await blob.getProperties();
      await blob.upload("newer", 5);
      const earlier = blob.withVersion(versionId ?? "");
      expect((await earlier.downloadToBuffer()).toString()).toBe("text");
      await expect(earlier.delete()).rejects.toMatchObject(refused);
      await earlier.deleteImmutabilityPolicy();
      await earlier.delete();
    } else {
      await expect(blob.upload("newer", 5)).rejects.toMatchObject(refused);
      await blob.deleteImmutabilityPolicy();
    }
    await blob.delete();
  });

  it("under a locked policy stays protected; the policy can only be extended", async () => {
    const soon = new Date("2098-01-01T00:00:00Z");
    await blob.setImmutabilityPolicy({ expiriesOn: soon, policyMode: "Locked" });
    await expect(blob.deleteImmutabilityPolicy()).rejects.toMatchObject({ statusCode: 409 });
    const shorter = { expiriesOn: new Date("2097-01-01T00:00:00Z"), policyMode: "Locked" } as const;
    await expect(blob.setImmutabilityPolicy(shorter)).rejects.toMatchObject({ statusCode: 400 });
    const unlocked = { expiriesOn: far, policyMode: "Unlocked" } as const;
    await expect(blob.setImmutabilityPolicy(unlocked)).rejects.toMatchObject({ statusCode: 400 });
    await blob.setImmutabilityPolicy({ expiriesOn: far, policyMode: "Locked" });
    const { immutabilityPolicyExpiresOn } = await blob.getProperties();
    expect(immutabilityPolicyExpiresOn).toEqual(far);
  });

  it("is not deleted with its base blob if only a snapshot is protected", async () => {
    const { snapshot } = await blob.createSnapshot();
    await blob.withSnapshot(snapshot ?? "").setLegalHold(true);
    const refused = { statusCode: 409, code: "BlobImmutableDueToLegalHold" };
    await expect(blob.delete({ deleteSnapshots: "include" })).rejects.toMatchObject(refused);
    await expect(blob.withSnapshot(snapshot ?? "").delete()).rejects.toMatchObject(refused);
    expect(await blob.exists()).toBe(true);
  });

  it("is listed with its protection", async () => {
    await blob.setLegalHold(true);
    await blob.setImmutabilityPolicy({ expiriesOn: far, policyMode: "Unlocked" });
    const options = { includeLegalHold: true, includeImmutabilityPolicy: true, prefix: blob.name };
    for await (const { properties } of container.listBlobsFlat(options)) {
      expect(properties).toMatchObject({
        legalHold: true,
        immutabilityPolicyMode: "unlocked",
        immutabilityPolicyExpiresOn: far,
      });
    }
    await blob.setLegalHold(false);
    await blob.deleteImmutabilityPolicy();
  });
});

describe("tiers", () => {
  let blob: BlockBlobClient;

  beforeEach(async () => {
    const service = BlobServiceClient.fromConnectionString(plain.server.connectionString);
    const container = service.getContainerClient(freshName("tiers"));
    await container.create();
    blob = container.getBlockBlobClient("b");
    await blob.upload("text", 4);
  });

  it("change without a new ETag", async () => {
    const { etag } = await blob.getProperties();
    await blob.setAccessTier("Cool");
    expect(await blob.getProperties()).toMatchObject({ accessTier: "Cool", etag });
  });

  it("make an archived blob unreadable until it is rehydrated", async () => {
    await blob.setAccessTier("Archive");
    const refused = { statusCode: 409, code: "BlobArchived" };
    await expect(blob.downloadToBuffer()).rejects.toMatchObject(refused);
    await blob.setAccessTier("Hot", { rehydratePriority: "High" });
    expect(await blob.getProperties()).toMatchObject({
      accessTier: "Archive",
      archiveStatus: "rehydrate-pending-to-hot",
      rehydratePriority: "High",
    });
    await expect(blob.setAccessTier("Cool")).rejects.toMatchObject({
      statusCode: 409,
      code: "BlobBeingRehydrated",
    });
    await expect(blob.downloadToBuffer()).rejects.toMatchObject({ statusCode: 409 });
    await blob.upload("anew", 4);
    expect((await blob.downloadToBuffer()).toString()).toBe("anew");
  });
});

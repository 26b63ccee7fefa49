import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

export const blobLease: Step = {
  title: "Pessimistic: a 30 s lease keeps other writers out",
  async run({ connectionString, name, say, check }) {
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    await container.create();
    const blob = container.getBlockBlobClient("ledger.txt");
    await blob.upload("balanced", 8);
    const lease = blob.getBlobLeaseClient();
    const { leaseId = "" } = await lease.acquireLease(30);
    say("The third party does not know the lease id, so it may read, but not write.");
    check("it reads", (await blob.downloadToBuffer()).toString(), "balanced");
    check("it does not write", await refusalOf(blob.upload("cooked", 6)), "412 LeaseIdMissing");
    const second = blob.getBlobLeaseClient().acquireLease(30);
    check("nor take the lease", await refusalOf(second), "409 LeaseAlreadyPresent");
    await blob.upload("audited", 7, { conditions: { leaseId } });
    check("the holder writes", (await blob.downloadToBuffer()).toString(), "audited");
    await lease.releaseLease();
    say("Released: now everyone may write again.");
    check("the third party writes", (await blob.upload("open", 4)).etag !== undefined, true);
    const old = blob.upload("stale", 5, { conditions: { leaseId } });
    const refusal = await refusalOf(old);
    check("the old lease id is rejected", refusal, "412 LeaseNotPresentWithBlobOperation");
  },
};

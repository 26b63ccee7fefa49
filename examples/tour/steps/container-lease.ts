import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

export const containerLease: Step = {
  title: "A lease on a container: only its deletion is exclusive",
  async run({ connectionString, name, say, check }) {
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    await container.create();
    const { leaseId = "" } = await container.getBlobLeaseClient().acquireLease(30);
    say("Blobs come and go without the lease id …");
    const blob = container.getBlockBlobClient("guest.txt");
    check("anyone writes a blob", (await blob.upload("hello", 5)).etag !== undefined, true);
    say("… but the container itself stays.");
    check("no delete without the id", await refusalOf(container.delete()), "412 LeaseIdMissing");
    await container.delete({ conditions: { leaseId } });
    check("the holder deletes it; it is gone", !(await container.exists()), true);
  },
};

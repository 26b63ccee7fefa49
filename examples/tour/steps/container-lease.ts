import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

export const containerLease: Step = {
  title: "A lease on a container: only its deletion is exclusive",
  async run({ connectionString, name, say, check }) {
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    await container.create();
    const { leaseId = "" } = await container.getBlobLeaseClient().acquireLease(30);
    say("Blobs are written and deleted without the lease id.");
    const blob = container.getBlockBlobClient("guest.txt");
    check("anyone writes a blob", (await blob.upload("hello", 5)).etag !== undefined, true);
    say("Clients that send an id with each read agree on exclusive reads.");
    const conditions = { leaseId: "00000000-0000-0000-0000-000000000001" };
    const mismatch = "412 LeaseIdMismatchWithContainerOperation";
    const foreign = container.getAccessPolicy({ conditions });
    check("a read with another id", await refusalOf(foreign), mismatch);
    say("Deletion needs the id.");
    check("no delete without the id", await refusalOf(container.delete()), "412 LeaseIdMissing");
    await container.delete({ conditions: { leaseId } });
    check("the holder deletes it; it is gone", !(await container.exists()), true);
  },
};

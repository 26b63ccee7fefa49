import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

const leaseSeconds = 15;

export const leaseLife: Step = {
  title: "The life of a lease: exclusive read, renewal, expiry, break",
  async run({ connectionString, name, say, check, pass }) {
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    await container.create();
    const blob = container.getBlockBlobClient("shift.txt");
    await blob.upload("early", 5);
    const lease = blob.getBlobLeaseClient();
    const { leaseId = "" } = await lease.acquireLease(leaseSeconds);
    say("Clients that send a lease id with each read agree on exclusive reads.");
    const conditions = { leaseId: "00000000-0000-0000-0000-000000000001" };
    const foreign = blob.download(0, undefined, { conditions });
    const mismatch = "412 LeaseIdMismatchWithBlobOperation";
    check("a read with another id", await refusalOf(foreign), mismatch);
    pass(leaseSeconds - 1);
    await lease.renewLease();
    pass(leaseSeconds - 1);
    const early = await refusalOf(blob.upload("other", 5));
    check("renewed: others still cannot write", early, "412 LeaseIdMissing");
    pass(2);
    say("The lease has expired. Others write, and its id no longer permits anything.");
    const late = blob.upload("holder", 6, { conditions: { leaseId } });
    check("the former holder", await refusalOf(late), "412 LeaseLost");
    check("another client writes", (await blob.upload("other", 5)).etag !== undefined, true);
    const next = blob.getBlobLeaseClient();
    await next.acquireLease(-1);
    say("An infinite lease ends only by a release or a break, which needs no id.");
    await blob.getBlobLeaseClient().breakLease(0);
    const renewal = await refusalOf(next.renewLease());
    check("it cannot be renewed", renewal, "409 LeaseIsBrokenAndCannotBeRenewed");
    check("anyone writes", (await blob.upload("free", 4)).etag !== undefined, true);
  },
};

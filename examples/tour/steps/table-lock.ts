import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

export const tableLock: Step = {
  title: "Locking a whole table with the lease of an agreed blob",
  async run({ connectionString, name, say, check }) {
    const table = TableClient.fromConnectionString(connectionString, name, {
      allowInsecureConnection: true,
    });
    await table.createTable();
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    await container.create();
    const lock = container.getBlockBlobClient("table.lock");
    await lock.upload("", 0);
    say("Tables have no locks. Clients can use the lease of an agreed blob as a lock.");
    say("15 s is the shortest lease: so long others wait if its holder has crashed.");
    const mine = lock.getBlobLeaseClient();
    await mine.acquireLease(15);
    const other = lock.getBlobLeaseClient().acquireLease(15);
    check("the other one waits", await refusalOf(other), "409 LeaseAlreadyPresent");
    for (const rowKey of ["a", "b", "c"]) {
      await table.createEntity({ partitionKey: "batch", rowKey });
    }
    await mine.releaseLease();
    const next = await lock.getBlobLeaseClient().acquireLease(15);
    check("now it gets the lease", next.leaseId !== undefined, true);
  },
};

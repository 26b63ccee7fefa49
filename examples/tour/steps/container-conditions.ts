import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

const second = 1000;

export const containerConditions: Step = {
  title: "Containers: metadata and deletion only if nothing has changed",
  async run({ connectionString, name, say, check, pass }) {
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    const { lastModified = new Date() } = await container.create();
    say("Containers have ETags. Set Metadata takes If-Modified-Since, Delete both dates.");
    const later = new Date(lastModified.getTime() + second);
    const unchanged = container.setMetadata(
      { step: "1" },
      { conditions: { ifModifiedSince: later } },
    );
    check("metadata of an unchanged container", await refusalOf(unchanged), "412 ConditionNotMet");
    pass(2);
    await container.setMetadata({ step: "2" });
    const conditions = { ifUnmodifiedSince: later };
    const stale = container.delete({ conditions });
    check("deleting a changed container", await refusalOf(stale), "412 ConditionNotMet");
    const blob = container.getBlockBlobClient("a.txt");
    const { etag } = await container.getProperties();
    await blob.upload("a", 1);
    check("a write to a blob keeps the ETag", (await container.getProperties()).etag, etag);
  },
};

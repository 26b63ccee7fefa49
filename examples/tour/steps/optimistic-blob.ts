import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

export const optimisticBlob: Step = {
  title: "Optimistic: two writers, one blob, one ETag",
  async run({ connectionString, name, say, check }) {
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    await container.create();
    const blob = container.getBlockBlobClient("note.txt");
    const { etag = "" } = await blob.upload("first", 5);
    say("Both writers have read the same version, so both hold its ETag.");
    const mine = await blob.upload("mine", 4, { conditions: { ifMatch: etag } });
    check("the first writer has a new ETag", mine.etag !== etag, true);
    say("The second one's ETag is stale: its update would undo one that it has never seen.");
    const late = blob.upload("late", 4, { conditions: { ifMatch: etag } });
    check("the second writer is refused", await refusalOf(late), "412 ConditionNotMet");
    check("nothing was lost", (await blob.downloadToBuffer()).toString(), "mine");
    say("It reads again, and tries with what it finds.");
    const now = await blob.getProperties();
    await blob.upload("both", 4, { conditions: { ifMatch: now.etag ?? "" } });
    check("then it succeeds", (await blob.downloadToBuffer()).toString(), "both");
  },
};

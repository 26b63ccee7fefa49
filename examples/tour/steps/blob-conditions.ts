import { BlobServiceClient } from "@azure/storage-blob";
import { refusalOf, type Step } from "../tour.ts";

const second = 1000;

export const blobConditions: Step = {
  title: "Blobs: If-None-Match, dates, conditions of a copy, and a snapshot that stays",
  async run({ connectionString, name, say, check }) {
    const container =
      BlobServiceClient.fromConnectionString(connectionString).getContainerClient(name);
    await container.create();
    const blob = container.getBlockBlobClient("plan.txt");
    say("If-None-Match: * creates a blob, and never overwrites one.");
    const onlyNew = { conditions: { ifNoneMatch: "*" } };
    const { etag = "", lastModified = new Date() } = await blob.upload("v1", 2, onlyNew);
    const again = blob.upload("v1", 2, onlyNew);
    check("a second creation is rejected", await refusalOf(again), "409 BlobAlreadyExists");
    const unchanged = blob.download(0, undefined, { conditions: { ifNoneMatch: etag } });
    check("a reader with the current ETag", await refusalOf(unchanged), "304 ConditionNotMet");
    const before = new Date(lastModified.getTime() - second);
    const old = blob.setMetadata({}, { conditions: { ifUnmodifiedSince: before } });
    check("If-Unmodified-Since, changed later", await refusalOf(old), "412 ConditionNotMet");
    const copy = container.getBlockBlobClient("copy.txt");
    const ofAnother = { sourceConditions: { ifMatch: '"0x1"' } };
    const copied = copy.beginCopyFromURL(blob.url, ofAnother);
    check("a copy of another version", await refusalOf(copied), "412 SourceConditionNotMet");
    say("A snapshot is one state: later writes do not change it.");
    const { snapshot = "" } = await blob.createSnapshot();
    await blob.upload("v2", 2);
    const kept = await blob.withSnapshot(snapshot).downloadToBuffer();
    check("the snapshot reads", kept.toString(), "v1");
    check("the blob reads", (await blob.downloadToBuffer()).toString(), "v2");
  },
};

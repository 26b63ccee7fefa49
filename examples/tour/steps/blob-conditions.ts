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
    say(`The blob was last modified at ${lastModified.toUTCString()}.`);
    const before = new Date(lastModified.getTime() - second);
    const old = blob.setMetadata({}, { conditions: { ifUnmodifiedSince: before } });
    check("If-Unmodified-Since, changed later", await refusalOf(old), "412 ConditionNotMet");
    say("In a write, an ETag goes with the date of its kind only: the ETag decides.");
    const pair = { ifMatch: etag, ifUnmodifiedSince: before };
    const { etag: next } = await blob.upload("v1", 2, { conditions: pair });
    check("If-Match with an old date writes", next !== etag, true);
    const both = blob.upload("v1", 2, { conditions: { ifMatch: etag, ifNoneMatch: "*" } });
    const several = "400 MultipleConditionHeadersNotSupported";
    check("If-Match with If-None-Match", await refusalOf(both), several);
    say("A copy has conditions for its source as well.");
    const copy = container.getBlockBlobClient("copy.txt");
    const ofAnother = { sourceConditions: { ifMatch: etag } };
    const copied = copy.beginCopyFromURL(blob.url, ofAnother);
    check("a copy of the earlier version", await refusalOf(copied), "412 SourceConditionNotMet");
    say("A snapshot is one state: later writes do not change it.");
    const { snapshot = "" } = await blob.createSnapshot();
    await blob.upload("v2", 2);
    const kept = await blob.withSnapshot(snapshot).downloadToBuffer();
    check("the snapshot reads", kept.toString(), "v1");
    check("the blob reads", (await blob.downloadToBuffer()).toString(), "v2");
  },
};

import { ShareServiceClient } from "@azure/storage-file-share";
import { refusalOf, type Step } from "../tour.ts";

export const lastWriter: Step = {
  title: "Files over REST: the last writer wins, unless the file is leased",
  async run({ connectionString, name, say, check }) {
    const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient(name);
    await share.create();
    const file = share.rootDirectoryClient.getFileClient("plan.txt");
    await file.create(4);
    say("Neither writer names a strategy, so both proceed, in one order that all readers see.");
    await file.uploadRange("east", 0, 4);
    await file.uploadRange("west", 0, 4);
    check("the last one stays", (await file.downloadToBuffer()).toString(), "west");
    const lease = file.getShareLeaseClient();
    const { leaseId = "" } = await lease.acquireLease();
    const intruder = file.uploadRange("gone", 0, 4);
    check("a lease keeps others out", await refusalOf(intruder), "412 LeaseIdMissing");
    await file.uploadRange("home", 0, 4, { leaseAccessConditions: { leaseId } });
    check("its holder writes", (await file.downloadToBuffer()).toString(), "home");
    await lease.releaseLease();
  },
};

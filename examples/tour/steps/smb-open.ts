import { ShareServiceClient, type ShareFileClient } from "@azure/storage-file-share";
import { hasSmbClient, openSmbSession } from "../smb-session.ts";
import { refusalOf, type Step } from "../tour.ts";

const looksMax = 100;
const betweenLooksMilliseconds = 100;

export const smbOpen: Step = {
  title: "One file, two doors: REST against an open SMB handle",
  async run({ connectionString, smbUrl, smbLogin, name, say, check }) {
    if (!hasSmbClient()) return say("Left out: the program smbclient is not installed.");
    const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient(name);
    await share.create();
    const file = share.rootDirectoryClient.getFileClient("drawing.txt");
    await file.create(4);
    const session = openSmbSession(smbUrl, name, smbLogin);
    try {
      say("An SMB client opens the file for reading and writing, and shares both, not deleting.");
      session.send("open drawing.txt");
      await handlesReach(file, 1);
      check("REST may write", (await file.uploadRange("line", 0, 4)).etag !== undefined, true);
      check("REST must not delete", await refusalOf(file.delete()), "409 SharingViolation");
      say("The SMB client closes the file.");
      session.send("close 1");
      await handlesReach(file, 0);
      await file.delete();
      check("now it may; the file is gone", !(await file.exists()), true);
    } finally {
      session.end();
    }
  },
};

async function handlesReach(file: ShareFileClient, count: number): Promise<void> {
  for (let looks = 0; looks < looksMax; looks += 1) {
    let handles = 0;
    for await (const { handleId } of file.listHandles()) if (handleId !== "") handles += 1;
    if (handles === count) return;
    await new Promise((resolve) => setTimeout(resolve, betweenLooksMilliseconds));
  }
  throw new Error(`the file does not have ${count} handles`);
}

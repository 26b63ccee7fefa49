import type { ShareClient } from "@azure/storage-file-share";
import { ShareServiceClient } from "@azure/storage-file-share";
import { Share } from "../smb-session.ts";
import { refusalOf, type Step } from "../tour.ts";
import { fileWithSmb } from "./file-with-smb.ts";

export const deletePending: Step = {
  title: "A delete-pending file: 409 until the last handle is closed",
  async run(stage) {
    const { connectionString, name, say, check } = stage;
    const { file, smb } = await fileWithSmb(stage);
    const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient(name);
    try {
      say("An SMB client opens the file and marks it for deletion. It goes with the last handle.");
      const handle = await smb.open("drawing.txt", Share.everything);
      await smb.markForDeletion(handle, true);
      check("REST reads", await refusalOf(file.download()), "409 DeletePending");
      check("REST writes", await refusalOf(file.uploadRange("line", 0, 4)), "409 DeletePending");
      check("the listing shows", await namesIn(share), "nothing");
      say("Not 404: the SMB client can still take the mark away, and does.");
      await smb.markForDeletion(handle, false);
      check("the listing shows", await namesIn(share), "drawing.txt");
      check("and read", (await file.download()).contentLength, 20);
      say("It marks it once more and closes its handle. Now the file is gone.");
      await smb.markForDeletion(handle, true);
      await smb.close(handle);
      check("REST reads", await refusalOf(file.download()), "404 ResourceNotFound");
    } finally {
      smb.end();
    }
  },
};

async function namesIn(share: ShareClient): Promise<string> {
  const names: string[] = [];
  for await (const item of share.rootDirectoryClient.listFilesAndDirectories()) {
    names.push(item.name);
  }
  return names.join() || "nothing";
}

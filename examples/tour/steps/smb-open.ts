import { Share } from "../smb-session.ts";
import { refusalOf, type Step } from "../tour.ts";
import { fileWithSmb } from "./file-with-smb.ts";

export const smbOpen: Step = {
  title: "REST requests against an open SMB handle",
  async run(stage) {
    const { say, check } = stage;
    const { file, smb } = await fileWithSmb(stage);
    try {
      say("An SMB client opens the file for reading and writing, and shares both, not deleting.");
      const shared = await smb.open("drawing.txt", Share.readingAndWriting);
      check("REST may write", (await file.uploadRange("line", 0, 4)).etag !== undefined, true);
      check("REST must not delete", await refusalOf(file.delete()), "409 SharingViolation");
      say("The SMB client closes the file, and opens it again without sharing anything.");
      await smb.close(shared);
      const alone = await smb.open("drawing.txt", Share.nothing);
      const write = file.uploadRange("LINE", 0, 4);
      check("now REST must not even write", await refusalOf(write), "409 SharingViolation");
      check("nor read", await refusalOf(file.download()), "409 SharingViolation");
      say("The SMB client closes the file.");
      await smb.close(alone);
      await file.delete();
      check("now REST may delete; the file is gone", !(await file.exists()), true);
    } finally {
      smb.end();
    }
  },
};

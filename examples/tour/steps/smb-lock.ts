import { Share } from "../smb-session.ts";
import { refusalOf, type Step } from "../tour.ts";
import { fileWithSmb } from "./file-with-smb.ts";

export const smbLock: Step = {
  title: "REST requests against an SMB byte-range lock",
  async run(stage) {
    const { say, check } = stage;
    const { file, smb } = await fileWithSmb(stage);
    try {
      say("An SMB client shares the file with everyone, but locks its first ten bytes.");
      const handle = await smb.open("drawing.txt", Share.everything);
      await smb.lock(handle, 0, 10);
      const over = file.uploadRange("over", 8, 4);
      check("a write that overlaps them", await refusalOf(over), "409 FileLockConflict");
      check("a read that overlaps them", await refusalOf(file.download()), "409 FileLockConflict");
      const beside = await file.uploadRange("beside", 10, 6);
      check("a write beside them is done", beside.etag !== undefined, true);
      say("The SMB client unlocks them.");
      await smb.unlock(handle, 0, 10);
      const again = await file.uploadRange("over", 8, 4);
      check("the first write is done now", again.etag !== undefined, true);
      await smb.close(handle);
    } finally {
      smb.end();
    }
  },
};

import { ShareServiceClient, type ShareFileClient } from "@azure/storage-file-share";
import { SmbSession } from "../smb-session.ts";
import type { Stage } from "../tour.ts";

const fileBytes = 20;

/** A new share with one file, and an SMB client connected to it. */
export async function fileWithSmb({
  connectionString,
  smbUrl,
  name,
}: Stage): Promise<{ readonly file: ShareFileClient; readonly smb: SmbSession }> {
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient(name);
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("drawing.txt");
  await file.create(fileBytes);
  return { file, smb: await SmbSession.open(smbUrl, name) };
}

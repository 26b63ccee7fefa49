import { failed, type Result } from "../result.ts";
import { filePath, getFileProperties, type FileAddress } from "./file.ts";
import { request, sourceAddress } from "./request.ts";
import { waitForCopy } from "./wait-for-copy.ts";

/** Copies a file; an existing target is rejected. Copy File has no conditional headers, so a file
 *  that another client creates in between would be replaced. */
export async function copyFile(
  from: FileAddress,
  to: FileAddress,
  signal: AbortSignal,
): Promise<Result<unknown>> {
  const source = await sourceAddress(filePath(from), { sharesnapshot: from.snapshot });
  if (!source.ok) return source;
  const present = await getFileProperties(to, signal);
  if (present.ok) {
    return failed({ status: 409, code: "ResourceAlreadyExists", message: "The target exists" });
  }
  const answer = await request("file", filePath(to), {
    method: "PUT",
    headers: { "x-ms-copy-source": source.value },
    signal,
  });
  if (!answer.ok) return answer;
  const { headers } = answer.value;
  if (headers.get("x-ms-copy-status") !== "pending") return answer;
  return waitForCopy(headers.get("x-ms-copy-id"), () => getFileProperties(to, signal));
}

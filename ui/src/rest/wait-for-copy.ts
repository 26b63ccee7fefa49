import { done, failed, type Result } from "../result.ts";

const pollMilliseconds = 300;

/** Waits until the server has copied a content. Resolves to the headers of the finished copy; a
 *  target that was replaced meanwhile is a failure. */
export async function waitForCopy(
  copyId: string | null,
  getHeaders: () => Promise<Result<Headers>>,
): Promise<Result<Headers>> {
  for (;;) {
    const headers = await getHeaders();
    if (!headers.ok) return headers;
    const status = headers.value.get("x-ms-copy-status");
    const isSame = headers.value.get("x-ms-copy-id") === copyId;
    if (isSame && status === "success") return done(headers.value);
    if (!isSame || status !== "pending") {
      const given = headers.value.get("x-ms-copy-status-description");
      const message = given ?? "The copy did not finish";
      return failed({ status: 409, code: "CopyFailed", message });
    }
    await new Promise((resolve) => {
      setTimeout(resolve, pollMilliseconds);
    });
  }
}

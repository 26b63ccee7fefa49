import type { Param } from "../../protocol/params.ts";
import { clipRange, parseReadRange, type ByteRange } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { operation, type BlobAddress } from "../resources.ts";
import { renderHttpHeaders } from "../shared/create-blob.ts";
import { websiteContainer } from "./page-candidates.ts";

/** The static website of an account: serves blobs of the container `$web` to browsers. */

const range: Param<ByteRange | undefined> = {
  sources: ["Range"],
  parse: (reader) => ok(parseReadRange(reader.header("range") ?? "")),
};

/** The address of a page of the static website. Accepts any path: `loadPage` (`blob/resources.ts`)
 *  finds the blob of that path, an index document, or the error document. */
export function identifyPage(path: string): Result<BlobAddress> {
  const at = { snapshot: undefined, versionId: undefined };
  return ok({ resource: "page", container: websiteContainer, blob: path, ...at });
}

/** Serves a page of the static website to anyone.
 *  learn.microsoft.com/azure/storage/blobs/storage-blob-static-website */
export const getPage = operation({
  name: "Static website GET",
  ids: ["StaticWebsite_Get"],
  route: { method: ["GET", "HEAD"], resource: "page" },
  since: "2018-03-28",
  params: { range },
  permission: { resourceType: "o", allowsAnonymous: true },
  target: "must-exist",
  conditions: "read",
  lease: "none",
  etag: "keep",
  decide: ({ target, scope, input }) => {
    const { content } = target;
    const headers = { ...renderHttpHeaders(target.headers), "Accept-Ranges": "bytes" };
    const whole = { content, from: 0, length: content.length };
    // No blob has the path: the target is the error document, which is sent whole.
    if (scope.missing) return { status: 404, headers, body: whole };
    if (input.range === undefined) return { headers, body: whole };
    const span = clipRange(input.range, content.length);
    if (span === undefined) {
      return fail("InvalidRange", { headers: { "Content-Range": `bytes */${content.length}` } });
    }
    const last = span.from + span.length - 1;
    return {
      status: 206,
      headers: {
        ...headers,
        // The stored MD5 is that of the whole blob.
        "Content-MD5": undefined,
        "Content-Range": `bytes ${span.from}-${last}/${content.length}`,
      },
      body: { content, ...span },
    };
  },
});

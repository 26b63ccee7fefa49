import type { Result } from "../result.ts";
import type { Page } from "./container.ts";
import { bodyText, request } from "./request.ts";
import { childOf, childrenOf, nameOf, parseXml, tagsOf, textOf } from "./xml.ts";

export interface TaggedBlob {
  readonly name: string;
  readonly container: string;
  readonly tags: Readonly<Record<string, string>>;
}

const resultsMax = 1000;

/** Blobs of an account whose tags match an expression such as `"stage" = 'final'`. */
export async function findBlobsByTags(
  account: string,
  { where, marker, signal }: { where: string; marker: string | undefined; signal: AbortSignal },
): Promise<Result<Page<TaggedBlob>>> {
  const query = { comp: "blobs", where, marker, maxresults: resultsMax };
  const answer = await request("blob", [account], { query, signal });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const rows = childrenOf(childOf(root, "Blobs"), "Blob").map((one) => ({
    name: nameOf(one),
    container: textOf(one, "ContainerName") ?? "",
    tags: tagsOf(childOf(one, "Tags")),
  }));
  return { ok: true, value: { rows, next: textOf(root, "NextMarker") || undefined } };
}

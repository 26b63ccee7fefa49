import type { StaticWebsite } from "../../account/service-properties.ts";

/** Which blob answers a request to the static website. `blob/resources.ts` tries the candidates in
 *  order. */

export const websiteContainer = "$web";

interface PageCandidate {
  readonly name: string;
  /** Whether this is the error document, which is returned with 404. */
  readonly missing: boolean;
}

/** Blobs to try for a path, in this order: the path itself, the index document of the directory
 *  (with or without the slash), the default document, the error document. */
export function pageCandidates(path: string, site: StaticWebsite): readonly PageCandidate[] {
  const names: string[] = [];
  if (path !== "" && !path.endsWith("/")) names.push(path);
  const directory = path === "" || path.endsWith("/") ? path : `${path}/`;
  if (site.indexDocument) names.push(directory + site.indexDocument);
  const candidates = names.map((name) => ({ name, missing: false }));
  if (site.defaultIndexDocumentPath) {
    candidates.push({ name: site.defaultIndexDocumentPath, missing: false });
  }
  if (!site.errorDocument404Path) return candidates;
  return [...candidates, { name: site.errorDocument404Path, missing: true }];
}

import type { StaticWebsite } from "../../account/service-properties.ts";

export const websiteContainer = "$web";

export interface PageCandidate {
  readonly name: string;
  /** It only stands in for what is not there. */
  readonly missing: boolean;
}

/** Which blobs may answer for a path, in this order. A path may name a blob, or a directory whose
 *  index document is meant, with or without the slash. */
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

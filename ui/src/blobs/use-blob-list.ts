import { useMemo } from "preact/hooks";
import { matchingPages, sortedPage, type FetchPage } from "../parts/arranged-pages.ts";
import { prefixOf, substringTest, type NameFilter } from "../parts/name-filter.ts";
import { comparison, useSorting, type SortKeys, type Sorting } from "../parts/sorting.ts";
import { useFollowing } from "../parts/use-following.ts";
import { usePaged, type Paged } from "../parts/use-paged.ts";
import { listBlobs, type BlobEntry } from "../rest/blob-list.ts";
import type { FolderAddress } from "./blob-route.ts";

/** What the user has chosen to list in a container. */
export interface View {
  readonly filter: NameFilter;
  readonly isFlat: boolean;
  readonly withHidden: boolean;
  /** Whether the metadata of blobs is shown, which the service lists only on request. */
  readonly withMetadata: boolean;
}

/** Rows of the first page, which is small, so that it appears quickly. */
const firstPageRows = 200;
/** Rows of further pages: a page is parsed in about 25 ms, which scrolling does not show. */
const pageRows = 400;
/** What the list includes on request. Snapshots are missing, because the service rejects them
 *  together with a delimiter. */
const hidden = ["deleted", "versions", "uncommittedblobs"];

const sortKeys: SortKeys<BlobEntry> = {
  Name: ({ name }) => name,
  Size: ({ length = -1 }) => length,
  Type: ({ contentType }) => contentType,
  Modified: ({ lastModified }) => Date.parse(lastModified) || 0,
  Created: ({ createdAt }) => Date.parse(createdAt) || 0,
  Tier: ({ tier }) => tier,
};

export interface BlobList extends Paged<BlobEntry> {
  readonly sorting: Sorting;
  /** Whether other clients have changed the list, which is too long to be reloaded. */
  readonly isStale: boolean;
  /** The rows of the list in the order of the service, for jobs. */
  readonly fetchPage: FetchPage<BlobEntry>;
}

export function useBlobList(address: FolderAddress, view: View): BlobList {
  const { account, container, prefix } = address;
  const { filter, isFlat, withHidden, withMetadata } = view;
  const sorting = useSorting(Object.keys(sortKeys));
  const sort = sorting.present;
  const inputs = [account, container, prefix, filter, isFlat, withHidden, withMetadata];
  const fetchPage = useMemo(() => {
    const listed = pagesOf(address, view);
    const isMatch = substringTest(filter);
    if (isMatch === undefined) return listed;
    return matchingPages(listed, ({ name }) => isMatch(name.slice(prefix.length)));
  }, inputs);
  const compare = sort && comparison(sortKeys, sort, ({ kind }) => (kind === "folder" ? 0 : 1));
  const paged = usePaged(compare === undefined ? fetchPage : sortedPage(fetchPage, compare), [
    ...inputs,
    sort,
  ]);
  const isStale = useFollowing({
    ...paged,
    isAbout: (change) =>
      change.service === "blob" &&
      change.account === account &&
      change.container === container &&
      change.path?.startsWith(prefix) === true,
  });
  return { ...paged, isStale, sorting, fetchPage };
}

function pagesOf(
  address: FolderAddress,
  { filter, isFlat, withHidden, withMetadata }: View,
): FetchPage<BlobEntry> {
  const include = withHidden ? (isFlat ? [...hidden, "snapshots"] : [...hidden]) : [];
  if (withMetadata) include.push("metadata");
  return (marker, { signal }) =>
    listBlobs({
      account: address.account,
      container: address.container,
      prefix: address.prefix + prefixOf(filter),
      delimiter: isFlat ? undefined : "/",
      marker,
      include,
      resultsMax: marker === undefined ? firstPageRows : pageRows,
      signal,
    });
}

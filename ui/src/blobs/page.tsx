import type { JSX } from "preact";
import { BlobBrowser } from "./browser.tsx";
import { ContainerList } from "./container-list.tsx";
import { TagSearch } from "./tag-search.tsx";

interface BlobsPageProps {
  readonly account: string;
  readonly container: string | undefined;
  readonly prefix: string;
  readonly query: Readonly<Record<string, string>>;
}

/** The page of the Blob service: the containers of an account, or the blobs of one container. */
export function BlobsPage({ account, container, prefix, query }: BlobsPageProps): JSX.Element {
  if (container === undefined || container === "") {
    const where = query["where"] ?? "";
    if (query["find"] === "tags") return <TagSearch key={where} account={account} where={where} />;
    return <ContainerList account={account} />;
  }
  return <BlobBrowser key={container} address={{ account, container, prefix }} query={query} />;
}

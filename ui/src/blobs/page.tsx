import type { JSX } from "preact";
import { BlobBrowser } from "./browser.tsx";
import { ContainerList } from "./container-list.tsx";

export interface BlobsPageProps {
  readonly account: string;
  readonly container: string | undefined;
  readonly prefix: string;
  readonly query: Readonly<Record<string, string>>;
}

export function BlobsPage({ account, container, prefix, query }: BlobsPageProps): JSX.Element {
  if (container === undefined || container === "") return <ContainerList account={account} />;
  return <BlobBrowser key={container} place={{ account, container, prefix }} query={query} />;
}

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { bytes, moment } from "../format.ts";
import type { Column } from "../parts/grid.tsx";
import { LazyCell } from "../parts/lazy-cell.tsx";
import { NameList } from "../parts/name-list.tsx";
import type { SortKeys } from "../parts/sorting.ts";
import { Badge } from "../parts/states.tsx";
import { listShares, type Share } from "../rest/file-list.ts";
import { mapped } from "../result.ts";
import { createShare, deleteShare, getShareUse } from "../rest/file.ts";
import { formatRoute, go } from "../route.ts";
import { ShareBrowser } from "./share-browser.tsx";
import { ShareProperties } from "./share-properties.tsx";

interface SharesPageProps {
  readonly account: string;
  readonly share: string | undefined;
  readonly folder: string;
  readonly query: Readonly<Record<string, string>>;
}

const columnsOf = (account: string): readonly Column<Share>[] => [
  {
    title: "State",
    width: "14rem",
    isMinor: true,
    cell: ({ snapshot, leaseState }) => (
      <>
        {snapshot !== undefined && <Badge tone="accent">snapshot {moment(snapshot)}</Badge>}
        {leaseState === "leased" && <Badge tone="warn">leased</Badge>}
      </>
    ),
  },
  {
    title: "Used",
    width: "6rem",
    align: "end",
    isMinor: true,
    cell: ({ name, snapshot }) =>
      snapshot === undefined && (
        <LazyCell
          of={name}
          load={async (signal) => mapped(await getShareUse({ account, name }, signal), bytes)}
        />
      ),
  },
  {
    title: "Quota",
    width: "6rem",
    align: "end",
    isMinor: true,
    cell: ({ quotaGib }) => (quotaGib === undefined ? "" : `${quotaGib} GiB`),
  },
  {
    title: "Modified",
    width: "11rem",
    isMinor: true,
    cell: ({ lastModified }) => <span class="soft">{moment(lastModified)}</span>,
  },
];

const sortKeys: SortKeys<Share> = {
  Quota: ({ quotaGib = 0 }) => quotaGib,
  Modified: ({ lastModified }) => Date.parse(lastModified) || 0,
};

/** The page of the File service: the shares of an account, or one share. */
export function SharesPage({ account, share, folder, query }: SharesPageProps): JSX.Element {
  if (share !== undefined && share !== "") {
    const snapshot = query["snapshot"];
    const address = { account, share, folder, snapshot };
    return (
      <ShareBrowser key={`${share}${snapshot ?? ""}`} address={address} shown={query["file"]} />
    );
  }
  return <ShareList account={account} />;
}

function ShareList({ account }: { readonly account: string }): JSX.Element {
  const [shown, setShown] = useState<{ readonly share: Share; readonly reload: () => void }>();
  return (
    <>
      <NameList
        account={account}
        service="file"
        one="share"
        many="Shares"
        icon="shares"
        hint="a–z, 0–9 and single hyphens"
        columns={columnsOf(account)}
        sortKeys={sortKeys}
        list={(options) => listShares(account, options)}
        create={(name) => createShare(account, name)}
        remove={({ name, snapshot }) => deleteShare(account, { name, snapshot })}
        describe={({ name, snapshot }) =>
          snapshot === undefined ? name : `the snapshot ${moment(snapshot)} of ${name}`
        }
        keyOf={({ name, snapshot }) => `${name}${snapshot ?? ""}`}
        urlOf={({ name }) => ({ service: "file", path: name })}
        onOpen={({ name, snapshot }) => go(formatRoute("shares", [account, name], { snapshot }))}
        moreActions={(share, reload) => [
          {
            label: "Properties",
            icon: "edit",
            needs: "read",
            run: () => setShown({ share, reload }),
          },
        ]}
      />
      {shown !== undefined && (
        <ShareProperties
          account={account}
          share={shown.share}
          onClose={() => setShown(undefined)}
          onChanged={shown.reload}
        />
      )}
    </>
  );
}

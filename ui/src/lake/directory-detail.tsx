import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { folderRoute, type FolderAddress } from "../blobs/blob-route.ts";
import { moment } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Detail, Facts, Section } from "../parts/detail.tsx";
import { LeaseBox } from "../parts/lease-box.tsx";
import { Failed, Waiting } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { getPathState, type PathAddress, type PathState } from "../rest/path.ts";
import { go, useQueryValue } from "../route.ts";
import { DeleteDirectory, RenameDialog } from "./path-dialogs.tsx";
import { PermissionsTab } from "./permissions-tab.tsx";

interface DirectoryDetailProps {
  readonly folder: FolderAddress;
  readonly path: string;
  readonly onChanged: () => void;
}

const tabs = [
  ["overview", "Overview"],
  ["permissions", "Permissions"],
  ["history", "Timeline"],
] as const;

/** Details of a directory in a hierarchical account. */
export function DirectoryDetail({ folder, path, onChanged }: DirectoryDetailProps): JSX.Element {
  const [tab, setTab] = useQueryValue("tab", "overview");
  const [dialog, setDialog] = useState<"rename" | "delete">();
  const { account, container } = folder;
  const address: PathAddress = { account, container, path };
  const loaded = useLoad((signal) => getPathState(address, signal), [account, container, path]);
  const etag = loaded.value?.etag ?? "";
  const close = (): void => setDialog(undefined);
  const leave = (): void => {
    go(folderRoute(folder));
    onChanged();
  };
  return (
    <Detail
      title={path.split("/").at(-1) ?? path}
      onClose={() => go(folderRoute(folder))}
      actions={
        <>
          <Button icon="rename" needs="move" onClick={() => setDialog("rename")}>
            Rename
          </Button>
          <Button icon="trash" kind="danger" needs="delete" onClick={() => setDialog("delete")}>
            Delete
          </Button>
        </>
      }
      tabs={<Tabs label="Details" tabs={tabs} active={tab} onChange={setTab} />}
    >
      {loaded.failure !== undefined && (
        <Failed what={`directory ${path}`} failure={loaded.failure} onRetry={loaded.reload} />
      )}
      {loaded.value === undefined && loaded.failure === undefined && <Waiting />}
      {loaded.value !== undefined && tab === "overview" && (
        <Overview address={address} state={loaded.value} onChanged={loaded.reload} />
      )}
      {loaded.value !== undefined && tab === "permissions" && (
        <PermissionsTab address={address} isDirectory />
      )}
      {tab === "history" && <TimelineView of={{ service: "blob", account, container, path }} />}
      {dialog === "rename" && (
        <RenameDialog address={address} etag={etag} onClose={close} onDone={leave} />
      )}
      {dialog === "delete" && (
        <DeleteDirectory address={address} etag={etag} onClose={close} onDone={leave} />
      )}
    </Detail>
  );
}

interface OverviewProps {
  readonly address: PathAddress;
  readonly state: PathState;
  readonly onChanged: () => void;
}

function Overview({ address, state, onChanged }: OverviewProps): JSX.Element {
  const { account, container, path } = address;
  const header = (name: string): string => state.headers.get(name) ?? "";
  return (
    <>
      <Section title="State">
        <Facts
          facts={[
            ["Path", path],
            ["Type", header("x-ms-resource-type")],
            ["ETag", <code>{state.etag}</code>],
            ["Modified", moment(state.lastModified)],
            ["Owner", header("x-ms-owner")],
            ["Group", header("x-ms-group")],
            ["Permissions", <code>{header("x-ms-permissions")}</code>],
          ]}
        />
      </Section>
      <Section title="Lease">
        <LeaseBox
          leased={{ service: "blob", path: [account, container, path] }}
          state={header("x-ms-lease-state") || "available"}
          onChanged={onChanged}
        />
      </Section>
    </>
  );
}

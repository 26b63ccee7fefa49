import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useHierarchical } from "../accounts.ts";
import { PermissionsTab } from "../lake/permissions-tab.tsx";
import { useLoad } from "../load.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Detail } from "../parts/detail.tsx";
import { copyUrl } from "../parts/copy-url.ts";
import { describeFailure, report } from "../parts/notices.tsx";
import { Badge, Failed, Waiting } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { deleteBlob, snapshotBlob } from "../rest/blob-actions.ts";
import { chosenTier, getProperties, type BlobAddress, type BlobState } from "../rest/blob.ts";
import { go, useQueryValue } from "../route.ts";
import { AccessTab } from "./access-tab.tsx";
import { folderRoute, type FolderAddress, type ShownBlob } from "./blob-route.ts";
import { ContentTab } from "./content-tab.tsx";
import { CopyDialog } from "./copy-dialog.tsx";
import { download } from "./download.ts";
import { HistoryTab } from "./history-tab.tsx";
import { MetadataTab } from "./metadata-tab.tsx";
import { OverviewTab } from "./overview-tab.tsx";

interface BlobDetailProps {
  readonly folder: FolderAddress;
  readonly blob: ShownBlob;
  readonly onChanged: () => void;
}

const tabs = [
  ["overview", "Overview"],
  ["content", "Content"],
  ["metadata", "Metadata"],
  ["history", "History"],
  ["access", "Access"],
] as const;

const permissionsTab = ["permissions", "Permissions"] as const;

export function BlobDetail({ folder, blob, onChanged }: BlobDetailProps): JSX.Element {
  const [tab, setTab] = useQueryValue("tab", "overview");
  const isHierarchical = useHierarchical(folder.account);
  const address: BlobAddress = { ...folder, ...blob };
  const loaded = useLoad(
    (signal) => getProperties(address, signal),
    [address.name, address.container],
  );
  const isBase = blob.snapshot === undefined && blob.version === undefined;
  const changed = (): void => {
    loaded.reload();
    onChanged();
  };
  const close = (): void => go(folderRoute(folder));
  const state = loaded.value;
  return (
    <Detail
      title={blob.name.slice(folder.prefix.length) || blob.name}
      note={<StateNote blob={blob} state={state} />}
      isLarge={tab === "content"}
      onClose={close}
      actions={
        <Actions
          address={address}
          isBase={isBase}
          state={state}
          onChanged={changed}
          onGone={close}
        />
      }
      tabs={
        <Tabs
          label="Details"
          tabs={isHierarchical ? [...tabs, permissionsTab] : tabs}
          active={tab}
          onChange={setTab}
        />
      }
    >
      {loaded.failure !== undefined && (
        <>
          <Failed what="blob" failure={loaded.failure} onRetry={loaded.reload} />
          <HistoryTab address={address} onChanged={changed} />
        </>
      )}
      {state === undefined && loaded.failure === undefined && <Waiting />}
      {state !== undefined && (
        <Tab tab={tab} address={address} state={state} isBase={isBase} onChanged={changed} />
      )}
    </Detail>
  );
}

interface TabProps {
  readonly tab: string;
  readonly address: BlobAddress;
  readonly state: BlobState;
  readonly isBase: boolean;
  readonly onChanged: () => void;
}

function Tab({ tab, address, state, isBase, onChanged }: TabProps): JSX.Element {
  const isEditable = useAbilities().write && isBase;
  if (tab === "content") {
    return (
      <ContentTab address={address} state={state} isEditable={isEditable} onChanged={onChanged} />
    );
  }
  if (tab === "metadata") {
    return (
      <MetadataTab address={address} state={state} isEditable={isEditable} onChanged={onChanged} />
    );
  }
  if (tab === "permissions") {
    return <PermissionsTab address={{ ...address, path: address.name }} isDirectory={false} />;
  }
  if (tab === "history") return <HistoryTab address={address} onChanged={onChanged} />;
  if (tab === "access") return <AccessTab address={address} state={state} onChanged={onChanged} />;
  return (
    <OverviewTab address={address} state={state} isEditable={isEditable} onChanged={onChanged} />
  );
}

function StateNote({
  blob,
  state,
}: {
  readonly blob: ShownBlob;
  readonly state: BlobState | undefined;
}): JSX.Element {
  return (
    <>
      {blob.snapshot !== undefined && <Badge tone="accent">snapshot</Badge>}
      {blob.version !== undefined && <Badge tone="accent">version</Badge>}
      {state?.headers.get("x-ms-lease-status") === "locked" && <Badge tone="warn">leased</Badge>}
    </>
  );
}

interface ActionsProps {
  readonly address: BlobAddress;
  readonly isBase: boolean;
  readonly state: BlobState | undefined;
  readonly onChanged: () => void;
  readonly onGone: () => void;
}

function Actions({ address, isBase, state, onChanged, onGone }: ActionsProps): JSX.Element {
  const [dialog, setDialog] = useState<ActionName>();
  const remove = async (): Promise<string | undefined> => {
    const condition = isBase ? { ifMatch: state?.etag } : {};
    const result = await deleteBlob(address, { condition });
    if (!result.ok) return describeFailure(result.failure);
    onGone();
    onChanged();
    return undefined;
  };
  const snapshot = async (): Promise<void> => {
    if (report(await snapshotBlob(address), "Snapshot taken")) onChanged();
  };
  return (
    <>
      <Button icon="download" onClick={() => void download(address)}>
        Download
      </Button>
      <Button icon="copy" needs="copy" onClick={() => setDialog("Copy")}>
        Copy
      </Button>
      {isBase && (
        <Button icon="edit" needs="move" onClick={() => setDialog("Rename")}>
          Rename
        </Button>
      )}
      <Button
        icon="link"
        onClick={() => void copyUrl("blob", address.account, [address.container, address.name])}
      >
        Copy URL
      </Button>
      {isBase && (
        <Button icon="camera" needs="write" onClick={() => void snapshot()}>
          Snapshot
        </Button>
      )}
      <Button icon="trash" kind="danger" needs="delete" onClick={() => setDialog("delete")}>
        Delete
      </Button>
      <ActionDialog
        dialog={dialog}
        address={address}
        state={state}
        onRemove={remove}
        onClose={() => setDialog(undefined)}
        onDone={() => {
          if (dialog === "Rename") onGone();
          onChanged();
        }}
      />
    </>
  );
}

type ActionName = "delete" | "Copy" | "Rename";

interface ActionDialogProps {
  readonly dialog: ActionName | undefined;
  readonly address: BlobAddress;
  readonly state: BlobState | undefined;
  readonly onRemove: () => Promise<string | undefined>;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ActionDialog(props: ActionDialogProps): JSX.Element | null {
  const { dialog, address, state, onClose } = props;
  if (dialog === undefined) return null;
  if (dialog === "delete") {
    const isBase = address.snapshot === undefined && address.version === undefined;
    return (
      <Confirm
        title="Delete"
        text={`Delete ${address.name}${isBase ? ", with snapshots" : ""}?`}
        action="Delete"
        onConfirm={props.onRemove}
        onClose={onClose}
      />
    );
  }
  if (state === undefined) return null;
  const from = { ...address, etag: state.etag, tier: chosenTier(state) };
  return <CopyDialog from={from} action={dialog} onClose={onClose} onDone={props.onDone} />;
}

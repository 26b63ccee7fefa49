import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useHierarchical } from "../accounts.ts";
import { metadataProblem } from "../edit/pair-rules.ts";
import { PairsEditor } from "../edit/pairs-editor.tsx";
import { moment } from "../format.ts";
import { PermissionsTab } from "../lake/permissions-tab.tsx";
import { useLoad } from "../load.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Detail, Facts, Section } from "../parts/detail.tsx";
import { LeaseBox } from "../parts/lease-box.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { SasForm } from "../parts/sas-form.tsx";
import { Failed, Waiting } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { metadataIn } from "../rest/blob.ts";
import { getContainer, setContainerMetadata } from "../rest/container.ts";
import { policiesRoute } from "../settings/policies-route.ts";
import { go, useQueryValue } from "../route.ts";
import { folderRoute, type FolderAddress } from "./blob-route.ts";

const tabs = [
  ["overview", "Overview"],
  ["history", "Timeline"],
  ["access", "Access"],
] as const;

/** The root directory of a hierarchical account has permissions of its own. */
const rootTab = ["permissions", "Root permissions"] as const;

const permissions = [
  ["r", "Read"],
  ["l", "List"],
  ["a", "Add"],
  ["c", "Create"],
  ["w", "Write"],
  ["d", "Delete"],
  ["t", "Tags"],
] as const;

export function ContainerDetail({ folder }: { readonly folder: FolderAddress }): JSX.Element {
  const { account, container } = folder;
  const [tab, setTab] = useQueryValue("tab", "overview");
  const isHierarchical = useHierarchical(account);
  const abilities = useAbilities();
  const loaded = useLoad((signal) => getContainer(account, container, signal), [container]);
  return (
    <Detail
      title={container}
      onClose={() => go(folderRoute(folder))}
      tabs={
        <Tabs
          label="Details"
          tabs={isHierarchical ? [...tabs, rootTab] : tabs}
          active={tab}
          onChange={setTab}
        />
      }
    >
      {loaded.failure !== undefined && (
        <Failed what="container" failure={loaded.failure} onRetry={loaded.reload} />
      )}
      {loaded.value === undefined && loaded.failure === undefined && <Waiting />}
      {loaded.value !== undefined && tab === "overview" && (
        <Overview folder={folder} headers={loaded.value} onChanged={loaded.reload} />
      )}
      {tab === "permissions" && (
        <PermissionsTab address={{ account, container, path: "" }} isDirectory />
      )}
      {tab === "history" && <TimelineView of={{ service: "blob", account, container }} />}
      {loaded.value !== undefined && tab === "access" && (
        <>
          <Section title="Lease">
            <LeaseBox
              leased={{ service: "blob", path: [account, container] }}
              state={loaded.value.get("x-ms-lease-state") ?? "available"}
              onChanged={loaded.reload}
            />
          </Section>
          {abilities.manage && (
            <Section title="Access policies">
              <a href={policiesRoute({ account, service: "blob", container })}>
                Access level and stored access policies
              </a>
            </Section>
          )}
          <SasForm target={{ account, service: "blob", container }} permissions={permissions} />
        </>
      )}
    </Detail>
  );
}

interface OverviewProps {
  readonly folder: FolderAddress;
  readonly headers: Headers;
  readonly onChanged: () => void;
}

function Overview({ folder, headers, onChanged }: OverviewProps): JSX.Element {
  const { account, container } = folder;
  const header = (name: string): string => headers.get(name) ?? "";
  const metadata = metadataIn(headers);
  const [problem, setProblem] = useState<string>();
  const save = async (pairs: Readonly<Record<string, string>>): Promise<boolean> => {
    const address = { account, name: container };
    const result = await setContainerMetadata(address, pairs, header("last-modified"));
    setProblem(result.ok ? undefined : describeFailure(result.failure));
    if (!result.ok) return false;
    notify("good", "Metadata saved");
    onChanged();
    return true;
  };
  return (
    <>
      <Section title="State">
        <Facts
          facts={[
            ["ETag", <code>{header("etag")}</code>],
            ["Modified", moment(header("last-modified"))],
            ["Public access", header("x-ms-blob-public-access") || "none"],
            ["Lease", header("x-ms-lease-state")],
            ["Immutability", header("x-ms-has-immutability-policy")],
            ["Legal hold", header("x-ms-has-legal-hold")],
          ]}
        />
      </Section>
      <Section title="Metadata">
        <PairsEditor
          label="Metadata"
          pairs={metadata}
          isEditable={useAbilities().manage}
          findProblem={metadataProblem}
          problem={problem}
          onSave={save}
        />
      </Section>
    </>
  );
}

import type { JSX } from "preact";
import { bytes, count, moment } from "../format.ts";
import { useLoad } from "../load.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { copyUrl } from "../parts/copy-url.ts";
import { Detail, Facts, Section } from "../parts/detail.tsx";
import { LeaseBox } from "../parts/lease-box.tsx";
import { MetadataSection } from "../parts/properties-dialog.tsx";
import { SasForm } from "../parts/sas-form.tsx";
import { Failed, Waiting } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { filePath, getFileProperties, type FileAddress } from "../rest/file.ts";
import { useQueryValue } from "../route.ts";
import { downloadFile } from "./download-file.ts";
import { FilePreview } from "./file-preview.tsx";
import { HandlesList } from "./handles-list.tsx";
import { RangesMap } from "./ranges-map.tsx";

interface FileDetailProps {
  readonly address: FileAddress;
  readonly onClose: () => void;
}

const tabs = [
  ["overview", "Overview"],
  ["content", "Content"],
  ["handles", "Handles"],
  ["history", "Timeline"],
  ["access", "Access"],
] as const;

const permissions = [
  ["r", "Read"],
  ["c", "Create"],
  ["w", "Write"],
  ["d", "Delete"],
] as const;

export function FileDetail({ address, onClose }: FileDetailProps): JSX.Element {
  const [tab, setTab] = useQueryValue("tab", "overview");
  const loaded = useLoad((signal) => getFileProperties(address, signal), [address.path]);
  const { account, share, path } = address;
  return (
    <Detail
      title={path.split("/").at(-1) ?? path}
      isLarge={tab === "content"}
      onClose={onClose}
      actions={
        <>
          <Button icon="download" onClick={() => void downloadFile(address)}>
            Download
          </Button>
          <Button icon="link" onClick={() => void copyUrl("file", account, [share, path])}>
            Copy URL
          </Button>
        </>
      }
      tabs={<Tabs label="Details" tabs={tabs} active={tab} onChange={setTab} />}
    >
      {loaded.failure !== undefined && (
        <Failed what="file" failure={loaded.failure} onRetry={loaded.reload} />
      )}
      {loaded.value === undefined && loaded.failure === undefined && <Waiting />}
      {loaded.value !== undefined && tab === "overview" && (
        <Overview address={address} headers={loaded.value} onChanged={loaded.reload} />
      )}
      {loaded.value !== undefined && tab === "content" && (
        <FilePreview address={address} headers={loaded.value} onChanged={loaded.reload} />
      )}
      {tab === "handles" && <HandlesList address={address} />}
      {tab === "history" && (
        <TimelineView of={{ service: "file", account, container: share, path }} />
      )}
      {tab === "access" && loaded.value !== undefined && (
        <>
          <Section title="Lease">
            <LeaseBox
              leased={{ service: "file", path: filePath(address) }}
              state={loaded.value.get("x-ms-lease-state") ?? "available"}
              onChanged={loaded.reload}
            />
          </Section>
          <SasForm
            target={{ account, service: "file", container: share, path }}
            permissions={permissions}
          />
        </>
      )}
    </Detail>
  );
}

interface OverviewProps {
  readonly address: FileAddress;
  readonly headers: Headers;
  readonly onChanged: () => void;
}

function Overview({ address, headers, onChanged }: OverviewProps): JSX.Element {
  const { write } = useAbilities();
  const { snapshot } = address;
  const length = Number(headers.get("content-length") ?? 0);
  return (
    <>
      <Section title="State">
        <Facts
          facts={[
            ["ETag", <code>{headers.get("etag")}</code>],
            ["Modified", moment(headers.get("last-modified") ?? "")],
            ["Written", moment(headers.get("x-ms-file-last-write-time") ?? "")],
            ["Created", moment(headers.get("x-ms-file-creation-time") ?? "")],
            ["Size", `${bytes(length)} (${count(length)} bytes)`],
            ["Type", headers.get("content-type")],
            ["Attributes", headers.get("x-ms-file-attributes")],
            ["File id", headers.get("x-ms-file-id")],
            ["Lease", headers.get("x-ms-lease-state")],
          ]}
        />
      </Section>
      <MetadataSection
        owner={{ service: "file", path: filePath(address), snapshot }}
        headers={headers}
        isEditable={write && snapshot === undefined}
        onChanged={onChanged}
      />
      <Section title="Written ranges">
        <RangesMap address={address} length={length} />
      </Section>
    </>
  );
}

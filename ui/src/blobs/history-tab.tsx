import type { JSX } from "preact";
import { bytes, moment, shortEtag } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Section } from "../parts/detail.tsx";
import { report } from "../parts/notices.tsx";
import { Badge, Failed, Waiting } from "../parts/states.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { undeleteBlob } from "../rest/blob-actions.ts";
import { listBlobs, type BlobEntry } from "../rest/blob-list.ts";
import type { BlobPlace } from "../rest/blob.ts";
import { go } from "../route.ts";
import { folderRoute, parentPrefix } from "./blob-route.ts";
import { download } from "./download.ts";

export interface HistoryTabProps {
  readonly place: BlobPlace;
  readonly onChanged: () => void;
}

const statesMax = 1000;

export function HistoryTab({ place, onChanged }: HistoryTabProps): JSX.Element {
  const { account, container, name } = place;
  const loaded = useLoad(
    (signal) =>
      listBlobs({
        account,
        container,
        prefix: name,
        delimiter: undefined,
        marker: undefined,
        include: ["snapshots", "versions", "deleted"],
        resultsMax: statesMax,
        signal,
      }),
    [account, container, name],
  );
  const states = (loaded.value?.rows ?? []).filter((entry) => entry.name === name).toReversed();
  const undelete = async (): Promise<void> => {
    if (!report(await undeleteBlob({ account, container, name }), "Restored")) return;
    loaded.reload();
    onChanged();
  };
  return (
    <>
      <Section title="Stored states">
        {loaded.failure !== undefined && (
          <Failed what="stored states" failure={loaded.failure} onRetry={loaded.reload} />
        )}
        {loaded.value === undefined && loaded.failure === undefined && <Waiting />}
        <ul class="states">
          {states.map((entry, index) => (
            <StateRow key={index} entry={entry} place={place} onUndelete={() => void undelete()} />
          ))}
        </ul>
      </Section>
      <Section title="Timeline">
        <TimelineView of={{ service: "blob", account, container, path: name }} />
      </Section>
    </>
  );
}

interface StateRowProps {
  readonly entry: BlobEntry;
  readonly place: BlobPlace;
  readonly onUndelete: () => void;
}

function StateRow({ entry, place, onUndelete }: StateRowProps): JSX.Element {
  const { snapshot, isDeleted, etag, length, lastModified } = entry;
  const isCurrent = snapshot === undefined && entry.isCurrentVersion && !isDeleted;
  const version = entry.isCurrentVersion ? undefined : entry.version;
  const state = { name: entry.name, snapshot, version };
  const show = (): void => {
    go(folderRoute({ ...place, prefix: parentPrefix(entry.name) }, state));
  };
  return (
    <li class="state">
      <span>
        {isCurrent && <Badge tone="good">current</Badge>}
        {snapshot !== undefined && <Badge tone="accent">snapshot</Badge>}
        {version !== undefined && <Badge tone="accent">version</Badge>}
        {isDeleted && <Badge tone="bad">deleted</Badge>}
      </span>
      <span>{moment(snapshot ?? version ?? lastModified)}</span>
      <code>{shortEtag(etag)}</code>
      <span class="soft">{bytes(length)}</span>
      <span class="state-actions">
        {isDeleted ? (
          <Button icon="restore" label="Restore" onClick={onUndelete} />
        ) : (
          <>
            <Button onClick={show}>Show</Button>
            <Button
              icon="download"
              label="Download this state"
              onClick={() => void download({ ...place, ...state })}
            />
          </>
        )}
      </span>
    </li>
  );
}

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { getTimeline, type TimelineEntry } from "../admin/timeline.ts";
import { bytes, count, moment, shortEtag } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Section } from "../parts/detail.tsx";
import { report } from "../parts/notices.tsx";
import { Badge, Failed, Waiting } from "../parts/states.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { undeleteBlob } from "../rest/blob-actions.ts";
import type { BlobPlace } from "../rest/blob.ts";
import { mapped, type Result } from "../result.ts";
import { go } from "../route.ts";
import { folderRoute, parentPrefix } from "./blob-route.ts";
import { download } from "./download.ts";

export interface HistoryTabProps {
  readonly place: BlobPlace;
  readonly onChanged: () => void;
}

const statesPerPage = 50;

/** The stored states, newest first: the List Blobs operation has the oldest first. */
async function loadStates(
  { account, container, name }: BlobPlace,
  signal: AbortSignal,
): Promise<Result<readonly State[]>> {
  const found = await getTimeline({ service: "blob", account, container, path: name }, signal);
  return mapped(found, ({ entries }) => entries.filter(({ what }) => storedKinds.has(what)));
}

type State = TimelineEntry;

const storedKinds: ReadonlySet<string> = new Set(["current", "version", "snapshot", "deleted"]);

export function HistoryTab({ place, onChanged }: HistoryTabProps): JSX.Element {
  const { account, container, name } = place;
  const [pages, setPages] = useState(1);
  const loaded = useLoad((signal) => loadStates(place, signal), [account, container, name]);
  const all = loaded.value ?? [];
  const states = all.slice(0, pages * statesPerPage);
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
        {all.length > states.length && (
          <div class="editor-bar">
            <span class="grow soft">
              Newest {count(states.length)} of {count(all.length)}
            </span>
            <Button onClick={() => setPages(pages + 1)}>Show more</Button>
          </div>
        )}
      </Section>
      <Section title="Timeline">
        <TimelineView of={{ service: "blob", account, container, path: name }} />
      </Section>
    </>
  );
}

interface StateRowProps {
  readonly entry: State;
  readonly place: BlobPlace;
  readonly onUndelete: () => void;
}

function StateRow({ entry, place, onUndelete }: StateRowProps): JSX.Element {
  const { snapshot, etag, contentLength, at, what } = entry;
  const isCurrent = what === "current";
  const isDeleted = what === "deleted";
  const version = isCurrent || snapshot !== undefined ? undefined : entry.versionId;
  const state = { name: place.name, snapshot, version };
  const show = (): void => {
    go(folderRoute({ ...place, prefix: parentPrefix(place.name) }, state));
  };
  return (
    <li class="state">
      <span>
        {isCurrent && <Badge tone="good">current</Badge>}
        {snapshot !== undefined && <Badge tone="accent">snapshot</Badge>}
        {version !== undefined && <Badge tone="accent">version</Badge>}
        {isDeleted && <Badge tone="bad">deleted</Badge>}
      </span>
      <span>{moment(snapshot ?? version ?? at)}</span>
      <code>{shortEtag(etag)}</code>
      <span class="soft">{bytes(contentLength)}</span>
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

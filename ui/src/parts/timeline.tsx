import type { JSX } from "preact";
import { useObjectFeed, type Caller } from "../admin/feed.ts";
import { getTimeline, type TimelineEntry, type TimelineOf } from "../admin/timeline.ts";
import { useRepeating } from "../clock.ts";
import { bytes, moment, shortEtag } from "../format.ts";
import { useLoad } from "../load.ts";
import { timelineRoute } from "../timeline/timeline-route.ts";
import { Icon } from "./icon.tsx";
import { RefusalReason } from "./refusal-reason.tsx";
import { Badge, Empty, Failed, Waiting, type Tone } from "./states.tsx";

const tones: Readonly<Record<string, Tone>> = {
  current: "good",
  write: "good",
  read: "plain",
  version: "accent",
  snapshot: "accent",
  lease: "warn",
  deleted: "bad",
  delete: "bad",
  refused: "bad",
};

const refreshMilliseconds = 2000;
const noListeners = {};

/** Shows the stored states of an object, and the requests on it that were recorded; reads while
 *  this view is open. */
export function TimelineView({ of }: { readonly of: TimelineOf }): JSX.Element {
  const loaded = useLoad((signal) => getTimeline(of, signal), [JSON.stringify(of)]);
  useRepeating(loaded.reload, refreshMilliseconds);
  useObjectFeed({ ...of }, noListeners);
  if (loaded.failure !== undefined) {
    return <Failed what="timeline" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  const { entries, watchedSince } = loaded.value;
  if (entries.length === 0) return <Empty>No stored states and no recorded requests.</Empty>;
  return (
    <>
      <p>
        <a class="button" href={timelineRoute(of)}>
          <Icon name="timeline" />
          <span>Show as a picture</span>
        </a>
      </p>
      <EventList entries={entries} />
      <p class="soft">
        Requests recorded since {moment(watchedSince)}, reads while this view is open.
      </p>
    </>
  );
}

/** Requests and stored states as text. */
export function EventList({
  entries,
}: {
  readonly entries: readonly TimelineEntry[];
}): JSX.Element {
  return (
    <ol class="timeline">
      {entries.map((entry, index) => (
        <Entry key={index} entry={entry} />
      ))}
    </ol>
  );
}

/** Name or kind of the caller, its address, and the first word of its agent. */
function callerWords({ kind, name, objectId, address, agent }: Caller): string {
  const program = agent?.split(" ", 1)[0];
  return [name ?? objectId ?? kind, address, program].filter(Boolean).join(", ");
}

function Entry({ entry }: { readonly entry: TimelineEntry }): JSX.Element {
  const { what, at, etag, operation, status, contentLength, caller } = entry;
  return (
    <li class={`event ${what}`}>
      <div class="event-head">
        <Badge tone={tones[what] ?? "plain"}>{what}</Badge>
        <time>{moment(at)}</time>
        {etag !== undefined && <code>{shortEtag(etag)}</code>}
        {contentLength !== undefined && <span class="soft">{bytes(contentLength)}</span>}
      </div>
      {operation !== undefined && (
        <div class="soft">
          {operation} {status} {caller === undefined ? "" : `by ${callerWords(caller)}`}
        </div>
      )}
      {what === "refused" && <RefusalReason refusal={entry} />}
    </li>
  );
}

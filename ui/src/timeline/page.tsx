import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useFeed, useObjectFeed } from "../admin/feed.ts";
import { getRecording, parseRecording, type Recording } from "../admin/recording.ts";
import type { TimelineOf } from "../admin/timeline.ts";
import { saveText } from "../blobs/download.ts";
import { useRepeating } from "../clock.ts";
import { ResourceLink } from "../concurrency/resource-link.tsx";
import { count, moment, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Choice } from "../parts/field.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Badge, Empty, Failed, Waiting } from "../parts/states.tsx";
import { EventList } from "../parts/timeline.tsx";
import { formatRoute, replaceRoute, setQuery, useQueryValue } from "../route.ts";
import { objectsOf, recordingOf, type Period } from "./lanes.ts";
import { Picture } from "./picture.tsx";
import { timelineIn } from "./timeline-route.ts";

const refreshMilliseconds = 2000;
const noListeners = {};
const watchedKinds = ["refused", "lease", "message", "change"];
const secondsMin = 2;
const secondsMax = 3600;
const listedMax = 200;
/** Requests that the first view shows. */
const eventsFitted = 40;
const lengths = [
  ["10", "10 seconds"],
  ["30", "30 seconds"],
  ["60", "1 minute"],
  ["120", "2 minutes"],
  ["600", "10 minutes"],
  ["3600", "1 hour"],
] as const;

interface TimelinePageProps {
  readonly query: Readonly<Record<string, string>>;
}

/** What happened to one object, or in the whole server, as a picture over time; also a recording
 *  from a file. */
export function TimelinePage({ query }: TimelinePageProps): JSX.Element {
  const [opened, setOpened] = useState<Recording>();
  const of = timelineIn(query);
  return (
    <>
      <TimelineBar of={of} isReplay={opened !== undefined} onOpen={setOpened} />
      <div class="work">
        <div class="scroll" tabIndex={0} role="region" aria-label="Timeline">
          {opened !== undefined ? (
            <View recording={opened} of={undefined} />
          ) : (
            <LiveView key={JSON.stringify(of)} of={of} />
          )}
        </div>
      </div>
    </>
  );
}

interface TimelineBarProps {
  readonly of: TimelineOf | undefined;
  readonly isReplay: boolean;
  readonly onOpen: (recording: Recording | undefined) => void;
}

function TimelineBar({ of, isReplay, onOpen }: TimelineBarProps): JSX.Element {
  const file = useRef<HTMLInputElement>(null);
  const [end] = useQueryValue("until");
  const choose = async (input: HTMLInputElement): Promise<void> => {
    const text = await input.files?.[0]?.text();
    input.value = "";
    if (text === undefined) return;
    const parsed = parseRecording(text);
    if (!parsed.ok) return notify("bad", describeFailure(parsed.failure));
    replaceRoute(formatRoute("timeline", []));
    onOpen(parsed.value);
  };
  const save = async (): Promise<void> => {
    const made = await getRecording({ of: undefined, seconds: 60 });
    if (!made.ok) return notify("bad", describeFailure(made.failure));
    const name = `recording-${made.value.to.slice(0, 19).replaceAll(":", "-")}.json`;
    saveText(name, JSON.stringify(made.value, null, 1), "application/json");
    notify("good", `${plural(made.value.events.length, "request")} saved as ${name}`);
  };
  return (
    <div class="bar">
      <Crumbs crumbs={[{ words: "Timeline" }]} />
      {of !== undefined && !isReplay && <ResourceLink resource={of} />}
      {isReplay && <Badge tone="accent">recording from a file</Badge>}
      {!isReplay && (
        <Button
          icon={end === "" ? "pause" : "play"}
          pressed={end !== ""}
          onClick={() => setQuery({ until: end === "" ? new Date().toISOString() : undefined })}
        >
          {end === "" ? "Pause" : "Resume"}
        </Button>
      )}
      {isReplay ? (
        <Button onClick={() => onOpen(undefined)}>Show this server</Button>
      ) : (
        <Button icon="download" onClick={() => void save()}>
          Save last minute
        </Button>
      )}
      <Button icon="upload" onClick={() => file.current?.click()}>
        Open recording
      </Button>
      <input
        ref={file}
        hidden
        type="file"
        accept=".json"
        data-choose="recording"
        onChange={(event) => void choose(event.currentTarget)}
      />
    </div>
  );
}

interface LiveViewProps {
  readonly of: TimelineOf | undefined;
}

/** The recording of this server, reloaded until it is paused. */
function LiveView({ of }: LiveViewProps): JSX.Element {
  const [until] = useQueryValue("until");
  const [kept, setKept] = useState<Recording>();
  const loaded = useLoad((signal) => getRecording({ of, seconds: secondsMax }, signal), []);
  useRepeating(() => {
    if (until === "" || kept === undefined) loaded.reload();
  }, refreshMilliseconds);
  useFeed(watchedKinds, noListeners);
  useEffect(() => {
    if (loaded.value !== undefined && (until === "" || kept === undefined)) setKept(loaded.value);
  }, [loaded.value]);
  if (loaded.failure !== undefined) {
    return <Failed what="timeline" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (kept === undefined) return <Waiting />;
  return (
    <>
      {of !== undefined && <ReadsOf of={of} />}
      <View recording={kept} of={of} />
    </>
  );
}

/** While it is shown, the server records the reads of the object. */
function ReadsOf({ of }: { readonly of: TimelineOf }): null {
  useObjectFeed(of.service === "queue" ? { ...of, path: undefined } : { ...of }, noListeners);
  return null;
}

interface ViewProps {
  readonly recording: Recording;
  readonly of: TimelineOf | undefined;
}

function View({ recording, of }: ViewProps): JSX.Element {
  const [chosen, choose] = useQueryValue("object");
  const objects = useMemo(() => objectsOf(recording), [recording]);
  const isAll = of !== undefined || chosen === "";
  const shown = useMemo(
    () => (isAll ? recording : recordingOf(recording, chosen)),
    [recording, chosen, isAll],
  );
  const { period, zoom, length, setLength } = usePeriod(recording);
  const listed = shown.events
    .filter(({ at }) => Date.parse(at) >= period.from && Date.parse(at) <= period.to)
    .toReversed();
  return (
    <>
      <div class="lane-controls">
        {of === undefined && (
          <Choice
            label="Object"
            value={chosen}
            options={[
              ["", `all (${plural(objects.length, "object")})`],
              ...objects.map(
                ({ key, words, count: n }) => [key, `${words} (${count(n)})`] as const,
              ),
            ]}
            onChange={choose}
          />
        )}
        <Choice label="Period" value={length} options={lengthsWith(length)} onChange={setLength} />
        <Button icon="plus" label="Zoom in" onClick={() => zoom(0.5, period.to)} />
        <Button icon="minus" label="Zoom out" onClick={() => zoom(2, period.to)} />
        <span class="soft">
          {plural(listed.length, "request")}, recorded since {moment(recording.recordedSince)}
        </span>
      </div>
      {shown.events.length + shown.spans.length === 0 ? (
        <Empty>Nothing was recorded. Requests appear here as they happen.</Empty>
      ) : (
        <Picture recording={shown} period={period} onZoom={zoom} />
      )}
      <Legend />
      <EventList entries={listed.slice(0, listedMax)} />
    </>
  );
}

function lengthsWith(length: string): readonly (readonly [string, string])[] {
  return lengths.some(([value]) => value === length)
    ? lengths
    : [[length, `${length} seconds`], ...lengths];
}

/** The shortest period that has the last requests. */
function fittingSeconds({ events }: Recording, end: number): number {
  const first = Date.parse(events.at(-eventsFitted)?.at ?? events[0]?.at ?? "");
  const needed = (end - first) / 900;
  return Number(lengths.find(([value]) => Number(value) >= needed)?.[0] ?? secondsMax);
}

/** The shown period; its length and, while paused, its end are in the address. */
function usePeriod(recording: Recording) {
  const [length, setLength] = useQueryValue("seconds");
  const [until] = useQueryValue("until");
  const end = Date.parse(until) || Date.parse(recording.to);
  const chosen = Number(length) || fittingSeconds(recording, end);
  const seconds = Math.min(secondsMax, Math.max(secondsMin, chosen));
  const period: Period = useMemo(() => ({ from: end - seconds * 1000, to: end }), [end, seconds]);
  const zoom = (factor: number, around: number): void => {
    const next = Math.round(Math.min(secondsMax, Math.max(secondsMin, seconds * factor)));
    const part = (period.to - around) / (period.to - period.from);
    const last = Date.parse(recording.to);
    const to = Math.min(last, around + part * next * 1000);
    const isLive = until === "" && to >= last - 1000;
    setQuery({ seconds: String(next), until: isLive ? undefined : new Date(to).toISOString() });
  };
  return { period, zoom, length: String(seconds), setLength };
}

const legend = [
  ["write", "write"],
  ["read", "read"],
  ["refused", "rejected"],
  ["lease", "lease action"],
] as const;

function Legend(): JSX.Element {
  return (
    <p class="lane-legend soft">
      {legend.map(([kind, words]) => (
        <span key={kind}>
          <span class={`legend-mark ${kind}`} aria-hidden="true" /> {words}
        </span>
      ))}
      <span>bars: leases, opens, locks, messages in flight</span>
      <span>arrows: to the write that made an ETag stale</span>
      <span>Shift and wheel: zoom</span>
    </p>
  );
}

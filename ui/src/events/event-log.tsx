import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { eventStreamUrl } from "../admin/subscriptions.ts";
import { moment, plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Detail, Facts } from "../parts/detail.tsx";
import { Grid, rowsOf, type Column } from "../parts/grid.tsx";
import { Badge, Empty } from "../parts/states.tsx";
import { useQueryValue } from "../route.ts";

/** An event of the log, in the schema of Event Grid. */
interface LoggedEvent {
  readonly id: string;
  readonly eventType: string;
  readonly subject: string;
  readonly eventTime: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events that are shown; older ones are left out. */
const shownMax = 500;

interface EventLogProps {
  readonly account: string;
}

/** The event log of an account as it grows. */
export function EventLog({ account }: EventLogProps): JSX.Element {
  const { events, isLive, hasLog, isPaused, setPaused } = useEventLog(account);
  const [shownId, setShown] = useQueryValue("event");
  const shown = events.find(({ id }) => id === shownId);
  return (
    <>
      <div class="list">
        <div class="feed-bar">
          <Badge tone={isLive ? "good" : "warn"}>{isLive ? "live" : "connecting"}</Badge>
          <Button
            icon={isPaused ? "play" : "pause"}
            pressed={isPaused}
            onClick={() => setPaused(!isPaused)}
          >
            {isPaused ? "Resume" : "Pause"}
          </Button>
          <span class="soft">{plural(events.length, "event")}</span>
        </div>
        {events.length === 0 ? (
          <Empty>
            {hasLog
              ? "No events. Changes of blobs and files appear here as they are committed."
              : "The account has no event log: create a subscription, or enable its change feed."}
          </Empty>
        ) : (
          <Grid
            label="Events"
            rows={rowsOf(events)}
            columns={columns}
            keyOf={({ id }) => id}
            active={shownId}
            onOpen={({ id }) => setShown(id)}
          />
        )}
      </div>
      {shown !== undefined && (
        <Detail title={shortType(shown.eventType)} onClose={() => setShown("")}>
          <Facts
            facts={[
              ["Type", shown.eventType],
              ["Subject", shown.subject],
              ["Time", moment(shown.eventTime)],
              ["Id", <code>{shown.id}</code>],
            ]}
          />
          <pre class="preview-text" tabIndex={0} aria-label="Data">
            {JSON.stringify(shown.data, null, 2)}
          </pre>
        </Detail>
      )}
    </>
  );
}

const reopenMilliseconds = 5000;

/** Follows the log from its oldest event on. A paused view continues where it stopped: the log is
 *  complete, and the browser names the last event that it has got. */
function useEventLog(account: string) {
  const [events, setEvents] = useState<readonly LoggedEvent[]>([]);
  const [isLive, setLive] = useState(false);
  const [hasLog, setHasLog] = useState(true);
  const [isPaused, setPaused] = useState(false);
  const [last, setLast] = useState("0-0");
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (isPaused) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const source = new EventSource(eventStreamUrl(account, last));
    source.addEventListener("open", () => {
      setLive(true);
      setHasLog(true);
    });
    source.addEventListener("error", () => {
      setLive(false);
      // A response that is no stream: the account has no event log yet.
      if (source.readyState !== EventSource.CLOSED) return;
      setHasLog(false);
      timer = setTimeout(() => setRound((before) => before + 1), reopenMilliseconds);
    });
    source.addEventListener("event", ({ data, lastEventId }: MessageEvent<string>) => {
      setLast(lastEventId);
      const event = JSON.parse(data) as LoggedEvent;
      setEvents((before) => [event, ...before].slice(0, shownMax));
    });
    return () => {
      clearTimeout(timer);
      source.close();
      setLive(false);
    };
  }, [account, isPaused, round]);
  return { events, isLive, hasLog, isPaused, setPaused };
}

function shortType(type: string): string {
  return type.split(".").at(-1) ?? type;
}

const columns: readonly Column<LoggedEvent>[] = [
  {
    title: "Time",
    width: "5rem",
    isMinor: true,
    cell: ({ eventTime }) => <span class="soft">{moment(eventTime).slice(11)}</span>,
  },
  {
    title: "Type",
    width: "11rem",
    cell: ({ eventType }) => <Badge tone="accent">{shortType(eventType)}</Badge>,
  },
  {
    title: "Subject",
    width: "minmax(0, 2fr)",
    cell: ({ subject }) => (
      <span title={subject}>{subject.replace("/blobServices/default/containers/", "")}</span>
    ),
  },
];

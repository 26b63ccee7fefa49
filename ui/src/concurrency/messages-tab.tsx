import type { JSX } from "preact";
import type { MessageInFlight, MessagesView } from "../admin/live.ts";
import { count } from "../format.ts";
import type { Loaded } from "../load.ts";
import { Grid, rowsOf, type Column } from "../parts/grid.tsx";
import { Badge, Empty } from "../parts/states.tsx";
import { shownText } from "../queues/message-text.ts";
import { ResourceLink } from "./resource-link.tsx";
import { TimeLeft } from "./time-left.tsx";

/** Lists the messages in flight of all queues. */
export function MessagesTab({
  loaded,
}: {
  readonly loaded: Loaded<MessagesView>;
}): JSX.Element | null {
  if (loaded.value === undefined) return null;
  const { messages, truncated } = loaded.value;
  return (
    <div class="list">
      {messages.length === 0 ? (
        <Empty>No messages in flight. A message appears here after Get Messages.</Empty>
      ) : (
        <Grid
          label="Messages in flight"
          rows={rowsOf(messages)}
          columns={columns}
          keyOf={({ id }) => id}
        />
      )}
      {truncated && <p class="status-line">First {count(messages.length)} messages.</p>}
    </div>
  );
}

const columns: readonly Column<MessageInFlight>[] = [
  {
    title: "Queue",
    width: "minmax(0, 1fr)",
    cell: ({ account, queue }) => (
      <ResourceLink resource={{ service: "queue", account, container: queue }} />
    ),
  },
  {
    title: "Message",
    width: "minmax(0, 2fr)",
    cell: ({ id, preview }) => <span class="soft">{shownText(id, preview)}</span>,
  },
  {
    title: "State",
    width: "6rem",
    isMinor: true,
    cell: ({ state }) => <Badge tone={state === "delayed" ? "plain" : "warn"}>{state}</Badge>,
  },
  {
    title: "Dequeued",
    width: "5rem",
    align: "end",
    isMinor: true,
    cell: ({ dequeueCount }) => dequeueCount,
  },
  {
    title: "Visible in",
    width: "8rem",
    cell: ({ secondsLeft }) => <TimeLeft secondsLeft={secondsLeft} />,
  },
];

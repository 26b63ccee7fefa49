import type { JSX } from "preact";
import type { Refusal } from "../admin/feed.ts";
import { count, moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Detail, Facts } from "../parts/detail.tsx";
import { Grid, rowsOf, type Column } from "../parts/grid.tsx";
import { RefusalReason } from "../parts/refusal-reason.tsx";
import { Badge, Empty, type Tone } from "../parts/states.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { useQueryValue } from "../route.ts";
import { ResourceLink } from "./resource-link.tsx";

interface FeedTabProps {
  readonly refusals: readonly Refusal[];
  readonly missed: number;
}

const statuses = [412, 409, 304, 403] as const;

/** Lists rejected requests as they happen. `missed`: how many the server has not sent, because
 *  there were too many. */
export function FeedTab({ refusals, missed }: FeedTabProps): JSX.Element {
  const [hiddenText, setHidden] = useQueryValue("without");
  const [shownId, setShown] = useQueryValue("request");
  const hidden = new Set(hiddenText.split(",").map(Number));
  const shown = refusals.find((refusal) => keyOf(refusal) === shownId);
  const rows = refusals.filter(({ status }) => !hidden.has(status));
  const toggle = (status: number): void => {
    const next = new Set(hidden);
    if (!next.delete(status)) next.add(status);
    setHidden([...next].filter(Boolean).join(","));
  };
  return (
    <>
      <div class="list">
        <div class="feed-bar" role="group" aria-label="Status filter">
          {statuses.map((status) => (
            <Button key={status} pressed={!hidden.has(status)} onClick={() => toggle(status)}>
              {status}
            </Button>
          ))}
          {missed > 0 && <span class="soft">{count(missed)} not shown: too many per second</span>}
        </div>
        {rows.length === 0 ? (
          <Empty>
            No rejected requests in the last hour. Requests answered 304, 409 or 412, or 403 for
            lack of a role, appear here with the reason.
          </Empty>
        ) : (
          <Grid
            label="Rejected requests"
            rows={rowsOf(rows)}
            columns={columns}
            keyOf={keyOf}
            active={shownId}
            onOpen={(refusal) => setShown(keyOf(refusal))}
          />
        )}
      </div>
      {shown !== undefined && <RefusalDetail refusal={shown} onClose={() => setShown("")} />}
    </>
  );
}

/** Parts of a transaction have the id of one request. */
function keyOf({ requestId, path, rowKey }: Refusal): string {
  return `${requestId} ${path ?? rowKey ?? ""}`;
}

function tone(status: number): Tone {
  return status === 304 ? "plain" : status === 409 ? "warn" : "bad";
}

const columns: readonly Column<Refusal>[] = [
  {
    title: "Time",
    width: "5rem",
    isMinor: true,
    cell: ({ at }) => <span class="soft">{moment(at).slice(11)}</span>,
  },
  {
    title: "Status",
    width: "4rem",
    cell: ({ status }) => <Badge tone={tone(status)}>{status}</Badge>,
  },
  { title: "Operation", width: "10rem", isMinor: true, cell: ({ operation }) => operation },
  {
    title: "What",
    width: "minmax(0, 1fr)",
    cell: (refusal) => <ResourceLink resource={refusal} />,
  },
  {
    title: "Reason",
    width: "minmax(0, 2fr)",
    cell: (refusal) => <RefusalReason refusal={refusal} />,
  },
];

interface RefusalDetailProps {
  readonly refusal: Refusal;
  readonly onClose: () => void;
}

function RefusalDetail({ refusal, onClose }: RefusalDetailProps): JSX.Element {
  const { service, account, container, path, partitionKey, rowKey, caller } = refusal;
  return (
    <Detail title={`${refusal.operation}: ${refusal.code}`} onClose={onClose}>
      <Facts
        facts={[
          ["Response", `${refusal.status} ${refusal.code}`],
          ["Rule", refusal.rule],
          ["Reason", <RefusalReason refusal={refusal} />],
          ["Message", refusal.message?.split("\n", 1)[0]],
          ["At", moment(refusal.at)],
          ["Caller", [caller.name, caller.kind, caller.address].filter(Boolean).join(", ")],
          ["Object id", caller.objectId],
          ["Agent", caller.agent],
          ["Request id", <code>{refusal.requestId}</code>],
          ["Resource", <ResourceLink resource={refusal} />],
        ]}
      />
      <h3 class="detail-title">Timeline</h3>
      <TimelineView of={{ service, account, container, path, partitionKey, rowKey }} />
    </Detail>
  );
}

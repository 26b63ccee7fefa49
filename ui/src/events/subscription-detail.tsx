import type { JSX } from "preact";
import type { Subscription } from "../admin/subscriptions.ts";
import { count, moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Detail, Facts, Section } from "../parts/detail.tsx";
import { PlainTable } from "../parts/plain-table.tsx";
import { Badge } from "../parts/states.tsx";

interface SubscriptionDetailProps {
  readonly subscription: Subscription;
  readonly mayChange: boolean;
  readonly onClose: () => void;
  readonly onPause: () => void;
  readonly onChange: () => void;
  readonly onDelete: () => void;
}

export function destinationWords(destination: Subscription["destination"]): string {
  if (destination.type === "webhook") return destination.url;
  const { account, queue } = destination;
  return `queue ${account === undefined ? "" : `${account}/`}${queue}`;
}

function sourceWords({ source, absentSince }: Subscription): string {
  if (source === "stored") return "stored";
  if (absentSince === undefined) return "configuration";
  return `not in the configuration since ${moment(absentSince)}: nothing is delivered`;
}

/** The definition, the progress and the last failures of a subscription. */
export function SubscriptionDetail(props: SubscriptionDetailProps): JSX.Element {
  const { subscription: one, onClose } = props;
  const isStored = one.source === "stored";
  const mayDelete = isStored || one.absentSince !== undefined;
  return (
    <Detail
      title={one.name}
      note={one.isPaused ? <Badge tone="warn">paused</Badge> : undefined}
      onClose={onClose}
      actions={
        props.mayChange && (
          <>
            <Button icon={one.isPaused ? "play" : "pause"} onClick={props.onPause}>
              {one.isPaused ? "Resume" : "Pause"}
            </Button>
            {isStored && (
              <Button icon="edit" onClick={props.onChange}>
                Change
              </Button>
            )}
            {mayDelete && (
              <Button icon="trash" kind="danger" onClick={props.onDelete}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <Progress one={one} />
      <Failures one={one} />
      <Definition one={one} />
    </Detail>
  );
}

function Progress({ one }: { readonly one: Subscription }): JSX.Element {
  return (
    <Section title="Progress">
      <Facts
        facts={[
          ["Backlog", `${count(one.backlog)}${one.isBacklogCut ? " or more" : ""} events`],
          ["Retries", count(one.retries ?? 0)],
          ["Delivered", count(one.delivered ?? 0)],
          ["Failed attempts", count(one.failed ?? 0)],
          ["Dead letters", count(one.deadLettered ?? 0)],
          ["Dropped", count(one.dropped ?? 0)],
          ["Missed", count(one.missed ?? 0)],
        ]}
      />
    </Section>
  );
}

function Failures({ one }: { readonly one: Subscription }): JSX.Element {
  return (
    <Section title="Last failures">
      {one.failures.length === 0 ? (
        <p class="soft">No failures.</p>
      ) : (
        <PlainTable
          titles={["Time", "Subject", "Reason"]}
          rows={one.failures.map(({ at, subject, reason }) => [
            moment(at),
            <span class="wrap">{subject}</span>,
            reason,
          ])}
        />
      )}
    </Section>
  );
}

function Definition({ one }: { readonly one: Subscription }): JSX.Element {
  return (
    <Section title="Definition">
      <Facts
        facts={[
          ["Destination", destinationWords(one.destination)],
          ["Schema", one.destination.type === "webhook" ? one.destination.schema : ""],
          [
            "Signed",
            one.destination.type === "webhook" && (one.destination.isSigned ? "yes" : "no"),
          ],
          ["Event types", one.eventTypes?.join(", ") ?? "those of Event Grid"],
          ["Subject begins with", one.subjectBeginsWith],
          ["Subject ends with", one.subjectEndsWith],
          ["Filters", one.advancedFilters && <code>{JSON.stringify(one.advancedFilters)}</code>],
          ["Dead letters into", one.deadLetterContainer],
          ["Attempts", one.maxDeliveryAttempts],
          ["Created", moment(one.createdAt)],
          ["Source", sourceWords(one)],
        ]}
      />
    </Section>
  );
}

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  changeSubscription,
  deleteSubscription,
  getSubscriptions,
  type Subscription,
} from "../admin/subscriptions.ts";
import { useRepeating } from "../clock.ts";
import { count } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Grid, rowsOf, type Column } from "../parts/grid.tsx";
import { describeFailure, report } from "../parts/notices.tsx";
import { Badge, Empty, Failed, Waiting } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { formatRoute, replaceRoute, useQueryValue } from "../route.ts";
import { EventLog } from "./event-log.tsx";
import { destinationWords, SubscriptionDetail } from "./subscription-detail.tsx";
import { SubscriptionForm } from "./subscription-form.tsx";

interface EventsPageProps {
  readonly account: string;
  readonly tab: string;
  /** Whether the login administers the server: subscriptions are changed with the admin token. */
  readonly mayChange: boolean;
}

/** Subscriptions to the changes of an account, and its event log. */
export function EventsPage({ account, tab, mayChange }: EventsPageProps): JSX.Element {
  const [dialog, setDialog] = useState<EventsDialog>();
  const loaded = useLoad((signal) => getSubscriptions(account, signal), [account]);
  useRepeating(loaded.reload, refreshMilliseconds);
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Events" }]} />
        <span class="soft">{account}</span>
        {mayChange && (
          <span data-new>
            <Button
              icon="plus"
              kind="main"
              onClick={() => setDialog({ kind: "edit", subscription: undefined })}
            >
              New subscription
            </Button>
          </span>
        )}
      </div>
      <div class="tab-bar">
        <Tabs
          label="Events"
          active={tab}
          onChange={(id) => replaceRoute(formatRoute("events", [account, id]))}
          tabs={[
            ["subscriptions", "Subscriptions"],
            ["log", "Event log"],
          ]}
        />
      </div>
      <div class="work">
        {tab === "log" ? (
          <EventLog key={account} account={account} />
        ) : (
          <Subscriptions loaded={loaded} mayChange={mayChange} onDialog={setDialog} />
        )}
      </div>
      <Dialogs
        account={account}
        dialog={dialog}
        onClose={() => setDialog(undefined)}
        onDone={loaded.reload}
      />
    </>
  );
}

const refreshMilliseconds = 2000;

type EventsDialog =
  | { readonly kind: "edit"; readonly subscription: Subscription | undefined }
  | { readonly kind: "delete"; readonly subscription: Subscription };

interface DialogsProps {
  readonly account: string;
  readonly dialog: EventsDialog | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Dialogs({ account, dialog, onClose, onDone }: DialogsProps): JSX.Element | null {
  if (dialog === undefined) return null;
  if (dialog.kind === "edit") {
    const { subscription } = dialog;
    return <SubscriptionForm {...{ account, subscription, onClose, onDone }} />;
  }
  const { subscription } = dialog;
  return (
    <Confirm
      title="Delete subscription"
      text={`Delete ${subscription.name}? Events that it has not delivered yet are lost for it.`}
      action="Delete"
      onConfirm={async () => {
        const result = await deleteSubscription(subscription);
        onDone();
        return result.ok ? undefined : describeFailure(result.failure);
      }}
      onClose={onClose}
    />
  );
}

interface SubscriptionsProps {
  readonly loaded: ReturnType<typeof useLoad<{ readonly subscriptions: readonly Subscription[] }>>;
  readonly mayChange: boolean;
  readonly onDialog: (dialog: EventsDialog) => void;
}

function Subscriptions({ loaded, mayChange, onDialog }: SubscriptionsProps): JSX.Element {
  const [shownName, setShown] = useQueryValue("subscription");
  if (loaded.failure !== undefined) {
    return <Failed what="subscriptions" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  const { subscriptions } = loaded.value;
  const shown = subscriptions.find(({ name }) => name === shownName);
  const pause = async (one: Subscription): Promise<void> => {
    const result = await changeSubscription(one, { isPaused: !one.isPaused });
    report(result, one.isPaused ? `${one.name} resumed` : `${one.name} paused`);
    loaded.reload();
  };
  return (
    <>
      <div class="list">
        {subscriptions.length === 0 ? (
          <Empty>
            No subscriptions. A subscription delivers the committed changes of the account to a
            queue or a webhook.
          </Empty>
        ) : (
          <Grid
            label="Subscriptions"
            rows={rowsOf(subscriptions)}
            columns={columns}
            keyOf={({ name }) => name}
            active={shownName}
            onOpen={({ name }) => setShown(name)}
          />
        )}
      </div>
      {shown !== undefined && (
        <SubscriptionDetail
          subscription={shown}
          mayChange={mayChange}
          onClose={() => setShown("")}
          onPause={() => void pause(shown)}
          onChange={() => onDialog({ kind: "edit", subscription: shown })}
          onDelete={() => onDialog({ kind: "delete", subscription: shown })}
        />
      )}
    </>
  );
}

const columns: readonly Column<Subscription>[] = [
  { title: "Name", width: "minmax(0, 1fr)", cell: ({ name }) => name },
  {
    title: "Destination",
    width: "minmax(0, 2fr)",
    isMinor: true,
    cell: ({ destination }) => <span class="soft">{destinationWords(destination)}</span>,
  },
  {
    title: "State",
    width: "7rem",
    cell: ({ isPaused, absentSince, retries = 0 }) =>
      isPaused || absentSince !== undefined ? (
        <Badge tone="warn">{isPaused ? "paused" : "not configured"}</Badge>
      ) : retries > 0 ? (
        <Badge tone="bad">retrying</Badge>
      ) : (
        <Badge tone="good">delivers</Badge>
      ),
  },
  {
    title: "Backlog",
    width: "6rem",
    align: "end",
    cell: ({ backlog, isBacklogCut }) => `${count(backlog)}${isBacklogCut ? "+" : ""}`,
  },
  {
    title: "Delivered",
    width: "6rem",
    align: "end",
    isMinor: true,
    cell: ({ delivered = 0 }) => count(delivered),
  },
];

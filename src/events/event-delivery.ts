import { accounts as accountTable, readAccount } from "../account/account-record.ts";
import type { Accounts } from "../account/settings.ts";
import { adoptAccount } from "../account/subscription-changes.ts";
import {
  readState,
  readSubscriptions,
  subscriptions,
  type NamedSubscription,
  type WebhookDestination,
} from "../account/subscription.ts";
import type { Log } from "../base/world.ts";
import type { Runtime } from "../operation/work.ts";
import type { DeliveredSubscription } from "./delivery-commit.ts";
import type { AttemptFailure } from "./delivery-window.ts";
import { toCloudEvent, type EventSource } from "./render-event.ts";
import { SubscriptionRun, type SendEvent } from "./subscription-run.ts";
import { WebhookClient, WebhookUnreachable, type WebhookRules } from "./webhook.ts";

/** Sends the events of an account to its event subscriptions, with one `SubscriptionRun` for each
 *  subscription. `server/running-server.ts` starts it. */

/** What event delivery needs of the running server. */
interface DeliveryParts {
  readonly runtime: Runtime;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly rules: WebhookRules;
  /** Whether this process is the leader, the one of all processes on a store that runs background
   *  tasks: only the leader delivers. */
  readonly isLeader: () => Promise<boolean>;
  readonly sourceOf: (account: string) => EventSource;
}

export interface EventDelivery {
  /** Stops all deliveries. Resolves when none is under way. */
  stop(): Promise<void>;
}

/** Interval in which this process checks whether it is the leader, and which runs it needs. */
const pollMilliseconds = 5000;

interface OpenRun {
  readonly run: SubscriptionRun;
  readonly client: WebhookClient | undefined;
  /** A text with the revision of the subscription and all else on which the run depends. If it
   *  changes, a new run replaces this one. */
  readonly identity: string;
}

/** Delivers the events of all subscriptions while this process is the leader. If two processes are
 *  leader for a moment, webhooks may get events twice; queues do not. */
export function runEventDelivery(parts: DeliveryParts): EventDelivery {
  const { store, clock } = parts.runtime;
  const runs = new Map<string, OpenRun>();
  let isStopped = false;
  let syncing = Promise.resolve();
  let cancel = (): void => {};
  const sync = async (): Promise<void> => {
    if (isStopped) return;
    const wanted = (await parts.isLeader()) ? await readWanted(parts) : [];
    const identities = new Map(wanted.map((each) => [identityOf(each), each]));
    const outdated = [...runs].filter(([, { identity }]) => !identities.has(identity));
    await Promise.all(outdated.map(([key, open]) => stopRun(open).then(() => runs.delete(key))));
    for (const [identity, each] of identities) {
      const key = `${each.account}/${each.name}`;
      if (!isStopped && !runs.has(key)) runs.set(key, startRun(parts, each, identity));
    }
  };
  const wake = (): void => {
    if (isStopped) return;
    syncing = syncing.then(sync).catch((error: unknown) => {
      parts.log.warn({ err: error }, "reading event subscriptions failed; retrying in 5 s");
    });
  };
  const later = (): void => {
    cancel = clock.after(pollMilliseconds, () => {
      wake();
      later();
    });
  };
  const unwatch = [subscriptions.prefix([]), accountTable.prefix([])].map((prefix) =>
    store.watch(prefix, wake, { isBackground: true }),
  );
  wake();
  later();
  return {
    async stop() {
      isStopped = true;
      cancel();
      for (const end of unwatch) end();
      await syncing;
      await Promise.all([...runs.values()].map(stopRun));
    },
  };
}

async function stopRun({ run, client }: OpenRun): Promise<void> {
  const stopped = run.stop();
  client?.close();
  await stopped;
}

interface WantedRun extends DeliveredSubscription {
  readonly deadLetterContainers: ReadonlySet<string>;
}

function identityOf({ account, name, accountId, record, deadLetterContainers }: WantedRun): string {
  const containers = [...deadLetterContainers].join(",");
  return [account, name, accountId, record.revision, containers].join(" ");
}

/** The subscriptions to deliver: those whose accounts exist, that are not paused, and that the
 *  configuration still contains if they came from it. If an account was replaced (reset, load or
 *  restore), the state of its subscriptions is moved to its new id first. */
async function readWanted({ runtime: { store } }: DeliveryParts): Promise<readonly WantedRun[]> {
  const { found, replaced } = await store.snapshot(async (view) => {
    const all = await readSubscriptions(view);
    const wanted: WantedRun[] = [];
    const outdated: DeliveredSubscription[] = [];
    for (const each of all) {
      const account = await readAccount(view, each.account);
      if (account === undefined) continue;
      const run = { ...each, accountId: account.id };
      const state = await readState(view, each);
      if (state?.accountId !== account.id) outdated.push(run);
      if (state?.isPaused === true || each.record.absentSince !== undefined) continue;
      wanted.push({ ...run, deadLetterContainers: containersOf(all, each.account) });
    }
    return { found: wanted, replaced: outdated };
  });
  for (const each of replaced) {
    await store.transact((tx) => adoptAccount(tx, each, each.accountId));
  }
  return found;
}

/** The containers for undeliverable events of one account. Events of blobs in them go to no
 *  subscription of the account, because an undeliverable event would otherwise cause another one.
 *  Each run has this set as part of its identity, so that a change of it restarts the run. */
function containersOf(all: readonly NamedSubscription[], account: string): ReadonlySet<string> {
  const own = all.filter((each) => each.account === account);
  return new Set(own.flatMap(({ record }) => record.deadLetterContainer ?? []));
}

function startRun(
  { runtime, log, accounts, rules, sourceOf }: DeliveryParts,
  { deadLetterContainers, ...subscription }: WantedRun,
  identity: string,
): OpenRun {
  const { destination } = subscription.record;
  const client = destination.type === "webhook" ? new WebhookClient(rules, destination) : undefined;
  const send =
    client === undefined
      ? undefined
      : sendTo(client, destination as WebhookDestination, subscription.name);
  const source = sourceOf(subscription.account);
  const shared = { runtime, log, accounts };
  const run = new SubscriptionRun({ ...shared, subscription, source, deadLetterContainers, send });
  return { run, client, identity };
}

/** Statuses that Event Grid treats as success. */
const successes: ReadonlySet<number> = new Set([200, 201, 202, 203, 204]);
/** Statuses after which Event Grid does not try again: Bad Request, Payload Too Large. */
const finalStatuses: ReadonlySet<number> = new Set([400, 413]);

function sendTo(
  client: WebhookClient,
  { schema }: WebhookDestination,
  subscription: string,
): SendEvent {
  return async (event, attempts): Promise<AttemptFailure | undefined> => {
    const headers = {
      "aeg-event-type": "Notification",
      "aeg-subscription-name": subscription.toUpperCase(),
      "aeg-delivery-count": String(attempts),
      "aeg-data-version": event.dataVersion,
      "aeg-metadata-version": event.metadataVersion,
    };
    const sent = schema === "CloudEventSchemaV1_0" ? toCloudEvent(event) : event;
    try {
      const { status } = await client.deliver(sent, headers);
      if (successes.has(status)) return undefined;
      return { reason: `status ${status}`, status, isFinal: finalStatuses.has(status) };
    } catch (error) {
      if (!(error instanceof WebhookUnreachable)) throw error;
      return { reason: error.message, isFinal: false };
    }
  };
}

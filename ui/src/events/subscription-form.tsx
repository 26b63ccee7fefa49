import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  changeSubscription,
  createSubscription,
  type Subscription,
  type WebhookView,
} from "../admin/subscriptions.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Choice, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure, notify } from "../parts/notices.tsx";

interface SubscriptionFormProps {
  readonly account: string;
  /** The subscription to change; undefined for a new one. */
  readonly subscription: Subscription | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const kinds = [
  ["queue", "a queue of this server"],
  ["webhook", "a webhook"],
] as const;
const schemas = [
  ["EventGridSchema", "Event Grid"],
  ["CloudEventSchemaV1_0", "CloudEvents 1.0"],
] as const;

/** Creates or changes a subscription. */
export function SubscriptionForm(props: SubscriptionFormProps): JSX.Element {
  const { account, subscription, onClose, onDone } = props;
  const before = subscription?.destination;
  const [kind, setKind] = useState<string>(before?.type ?? "queue");
  const submit = async (values: FormData): Promise<string | undefined> => {
    const name = subscription?.name ?? textIn(values, "name").trim();
    const definition = definitionIn(values, kind, subscription);
    if (typeof definition === "string") return definition;
    const place = { account, name };
    const result = await (subscription === undefined
      ? createSubscription(place, definition)
      : changeSubscription(place, definition));
    if (!result.ok) return describeFailure(result.failure);
    notify("good", `Subscription ${name} saved`);
    onDone();
    return undefined;
  };
  return (
    <FormDialog
      title={subscription === undefined ? "New subscription" : `Change ${subscription.name}`}
      action={subscription === undefined ? "Create" : "Save"}
      onClose={onClose}
      onSubmit={submit}
    >
      {subscription === undefined && <Field label="Name" name="name" required autoFocus />}
      <Choice label="Deliver to" value={kind} options={kinds} onChange={setKind} />
      {kind === "queue" ? (
        <Field
          label="Queue"
          name="queue"
          value={before?.type === "queue" ? before.queue : ""}
          required
          hint="Until the queue exists, events are tried again for a day"
        />
      ) : (
        <WebhookFields before={before?.type === "webhook" ? before : undefined} />
      )}
      <FilterFields subscription={subscription} />
    </FormDialog>
  );
}

interface WebhookFieldsProps {
  readonly before: WebhookView | undefined;
}

function WebhookFields({ before }: WebhookFieldsProps): JSX.Element {
  return (
    <>
      <Field
        label="URL"
        name="url"
        required={before === undefined}
        hint={
          before === undefined
            ? "An address that --eventWebhooks lists"
            : `Empty keeps ${before.url}, whose query is not shown`
        }
      />
      <div class="row">
        <Choice
          label="Schema"
          name="schema"
          options={schemas}
          {...(before === undefined ? {} : { value: before.schema })}
        />
        <Field
          label="Secret for signatures"
          name="secret"
          type="password"
          hint={before?.isSigned === true ? "Empty keeps the present one" : "Empty: not signed"}
        />
      </div>
    </>
  );
}

function FilterFields({ subscription }: Pick<SubscriptionFormProps, "subscription">): JSX.Element {
  const { eventTypes = [], subjectBeginsWith, subjectEndsWith } = subscription ?? {};
  return (
    <>
      <Field
        label="Event types"
        name="eventTypes"
        value={eventTypes.join(", ")}
        hint="Microsoft.Storage.BlobCreated, …; empty: those of Event Grid; All: every type"
      />
      <div class="row">
        <Field
          label="Subject begins with"
          name="subjectBeginsWith"
          value={subjectBeginsWith ?? ""}
        />
        <Field label="Subject ends with" name="subjectEndsWith" value={subjectEndsWith ?? ""} />
      </div>
      <Check name="isSubjectCaseSensitive" checked={subscription?.isSubjectCaseSensitive === true}>
        The case of the subject counts
      </Check>
      <label class="field">
        <span class="field-label">Advanced filters (JSON list)</span>
        <textarea
          name="advancedFilters"
          class="mono"
          rows={2}
          spellcheck={false}
          defaultValue={
            subscription?.advancedFilters === undefined
              ? ""
              : JSON.stringify(subscription.advancedFilters)
          }
        />
      </label>
      <div class="row">
        <Field
          label="Container for dead letters"
          name="deadLetterContainer"
          value={subscription?.deadLetterContainer ?? ""}
        />
        <Field
          label="Attempts"
          name="maxDeliveryAttempts"
          type="number"
          value={String(subscription?.maxDeliveryAttempts ?? 30)}
        />
      </div>
    </>
  );
}

/** The definition in the fields, or what is wrong with them. */
function definitionIn(
  values: FormData,
  kind: string,
  before: Subscription | undefined,
): object | string {
  const text = (name: string): string => textIn(values, name).trim();
  // Null removes a value of an existing subscription.
  const orNone = (value: string): string | null | undefined =>
    value === "" ? (before === undefined ? undefined : null) : value;
  const types = text("eventTypes")
    .split(",")
    .flatMap((type) => type.trim() || []);
  const filters = parsedFilters(text("advancedFilters"));
  if (filters === "wrong") return "Advanced filters: must be a JSON list";
  const none = before === undefined ? undefined : null;
  return {
    ...destinationIn(values, kind, before),
    eventTypes: types.length === 0 ? none : types,
    subjectBeginsWith: orNone(text("subjectBeginsWith")),
    subjectEndsWith: orNone(text("subjectEndsWith")),
    isSubjectCaseSensitive: values.has("isSubjectCaseSensitive") ? true : none,
    advancedFilters: filters ?? none,
    deadLetterContainer: orNone(text("deadLetterContainer")),
    maxDeliveryAttempts: Number(text("maxDeliveryAttempts")),
  };
}

/** The fields of the destination that change: the page does not know its URL and its secret. */
function destinationIn(
  values: FormData,
  kind: string,
  before: Subscription | undefined,
): { readonly destination?: object } {
  const text = (name: string): string => textIn(values, name).trim();
  if (kind === "queue") {
    const isSame =
      before?.destination.type === "queue" && before.destination.queue === text("queue");
    return isSame ? {} : { destination: { queue: text("queue") } };
  }
  // Fields that are not sent stay as they are.
  const url = text("url") === "" ? {} : { webhook: text("url") };
  const secret = text("secret") === "" ? {} : { secret: text("secret") };
  return { destination: { ...url, schema: text("schema"), ...secret } };
}

function parsedFilters(text: string): readonly unknown[] | undefined | "wrong" {
  if (text === "") return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : "wrong";
  } catch {
    return "wrong";
  }
}

import { eventTypeNames } from "./event-log.ts";
import {
  accountNameForm,
  FieldPlace,
  flag,
  isObject,
  readFields,
  required,
  resourceName,
  text,
  texts,
  whole,
  type FieldInputs,
  type Form,
  type SettingsResult,
  type TextForm,
} from "./field-table.ts";
import type {
  AdvancedFilter,
  Destination,
  EventSchema,
  FilterValue,
  Subscription,
} from "./subscription.ts";

/** Parses event subscriptions, whose fields and limits are those of Azure Event Grid. They come
 *  from the configuration or from the admin API; `inputOf` converts one back for responses and
 *  archives. */

/** Azure's limits for one subscription. */
const advancedFiltersMax = 25;
const filterValuesMax = 25;
const filterTextUnitsMax = 512;
const attemptsMax = 30;
const timeToLiveSecondsMax = 86_400;
const subscriptionNameForm = /^[A-Za-z0-9-]{3,64}$/;
const shownUnitsMax = 80;
/** Limit of this server for the subscriptions of an account. */
export const subscriptionsMax = 100;
/** Limits of this server for one subscription. */
const subjectUnitsMax = 2048;
const messageTimeToLiveSecondsMax = 2 ** 31 - 1;
const secretForm: TextForm = {
  pattern: /^[\x21-\x7e]{8,256}$/,
  allowed: "8 to 256 ASCII characters without spaces",
};
const schemaForm = oneOf(["EventGridSchema", "CloudEventSchemaV1_0"] satisfies EventSchema[]);
/** The text in `eventTypes` that stands for all event types. */
export const allTypes = "All";
const typeForm = oneOf([allTypes, ...Object.values(eventTypeNames)]);

/** The kind of value that an operator of a filter takes. */
type ValueForm = "texts" | "numbers" | "number" | "ranges" | "boolean" | "none";

export const filterOperators: Readonly<Record<string, ValueForm>> = {
  StringIn: "texts",
  StringNotIn: "texts",
  StringBeginsWith: "texts",
  StringNotBeginsWith: "texts",
  StringEndsWith: "texts",
  StringNotEndsWith: "texts",
  StringContains: "texts",
  StringNotContains: "texts",
  NumberIn: "numbers",
  NumberNotIn: "numbers",
  NumberLessThan: "number",
  NumberLessThanOrEquals: "number",
  NumberGreaterThan: "number",
  NumberGreaterThanOrEquals: "number",
  NumberInRange: "ranges",
  NumberNotInRange: "ranges",
  BoolEquals: "boolean",
  IsNullOrUndefined: "none",
  IsNotNull: "none",
};

const operatorForm = oneOf(Object.keys(filterOperators));

/** Fields of an event outside `data`, in lower case; the names of both schemas. */
const filterKeys = [
  "id",
  "topic",
  "source",
  "subject",
  "eventtype",
  "type",
  "eventtime",
  "time",
  "dataversion",
] as const;
export type FilterKey = (typeof filterKeys)[number];
const keyForm: TextForm = {
  pattern: new RegExp(`^(?:${filterKeys.join("|")}|data(?:\\.[A-Za-z0-9_]{1,64}){1,4})$`, "i"),
  allowed: "id, topic, subject, eventType, eventTime, dataVersion or data.FIELD",
};

function oneOf(words: readonly string[]): TextForm {
  const escaped = words.map((word) => word.replaceAll(".", "\\."));
  return {
    pattern: new RegExp(`^(?:${escaped.join("|")})$`),
    allowed: `one of ${words.join(", ")}`,
  };
}

export function findSubscriptionNameProblem(name: string): string | undefined {
  if (subscriptionNameForm.test(name)) return undefined;
  const shown = JSON.stringify(name.slice(0, shownUnitsMax));
  return `subscription ${shown}: a name is 3 to 64 letters, digits and hyphens`;
}

/** Converts a parsed subscription back to the form of the configuration. */
export function inputOf(subscription: Subscription): SubscriptionInput {
  const { destination, advancedFilters, eventTypes, ...limits } = subscription;
  const { deadLetterContainer, maxDeliveryAttempts, eventTimeToLiveSeconds } = limits;
  const { subjectBeginsWith, subjectEndsWith, isSubjectCaseSensitive } = limits;
  const filters = advancedFilters?.map(({ operatorType, key, values }) => {
    const form = filterOperators[operatorType];
    const isSingle = form === "number" || form === "boolean";
    if (form === "none") return { operatorType, key };
    return { operatorType, key, ...(isSingle ? { value: values[0] } : { values }) };
  });
  const fields = {
    eventTypes,
    subjectBeginsWith,
    subjectEndsWith,
    isSubjectCaseSensitive,
    advancedFilters: filters,
    destination: destinationInput(destination),
    deadLetterContainer,
    maxDeliveryAttempts,
    eventTimeToLiveSeconds,
  };
  return JSON.parse(JSON.stringify(fields)) as SubscriptionInput;
}

function destinationInput(destination: Destination): object {
  const { type, ...fields } = destination;
  if (type === "queue") return fields;
  const { url, schema, secret } = destination;
  return { webhook: url, schema, secret };
}

/** The fields of a subscription, with the names of Event Grid. */
const subscriptionFields = {
  eventTypes: parseTypes,
  subjectBeginsWith: subject,
  subjectEndsWith: subject,
  isSubjectCaseSensitive: flag,
  advancedFilters: parseFilters,
  destination: parseDestination,
  deadLetterContainer: resourceName,
  maxDeliveryAttempts: whole({ min: 1, max: attemptsMax }),
  eventTimeToLiveSeconds: whole({ min: 1, max: timeToLiveSecondsMax }),
};

const queueFields = {
  queue: required(resourceName),
  account: text(accountNameForm),
  messageTimeToLiveSeconds: whole({ min: 1, max: messageTimeToLiveSecondsMax }),
};

const webhookFields = { webhook: parseUrl, schema: text(schemaForm), secret: text(secretForm) };

/** A subscription as the configuration and the admin API describe it. */
export type SubscriptionInput = FieldInputs<
  Omit<typeof subscriptionFields, "advancedFilters" | "destination">
> & {
  readonly advancedFilters?: readonly object[];
  readonly destination:
    | { readonly queue: string; readonly account?: string }
    | { readonly webhook: string; readonly schema?: EventSchema; readonly secret?: string };
};

/** Parses a subscription; problems begin with `where`. */
export function parseSubscription(where: string, input: unknown): SettingsResult<Subscription> {
  const problems: string[] = [];
  const read = readFields(where, input, { fields: subscriptionFields, problems });
  const { destination, maxDeliveryAttempts = attemptsMax } = read;
  const { eventTimeToLiveSeconds = timeToLiveSecondsMax } = read;
  if (problems.length > 0 || destination === undefined) return { ok: false, problems };
  return { ok: true, value: { ...read, destination, maxDeliveryAttempts, eventTimeToLiveSeconds } };
}

function subject(value: unknown, place: FieldPlace): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && value.length <= subjectUnitsMax) return value;
  return place.refuse(`must be a text of at most ${subjectUnitsMax} characters`);
}

function parseTypes(value: unknown, place: FieldPlace): readonly string[] | undefined {
  const types = texts(typeForm)(value, place);
  if (types?.length !== 0) return types && [...new Set(types)];
  return place.refuse("must not be empty; without it, all types of Event Grid are delivered");
}

function parseDestination(input: unknown, place: FieldPlace): Destination | undefined {
  const { problems } = place;
  if (!isObject(input) || !("queue" in input || "webhook" in input)) {
    return place.refuse('must be { "queue": … } or { "webhook": … }');
  }
  const where = `${place.where}: "destination"`;
  if ("webhook" in input) {
    const read = readFields(where, input, { fields: webhookFields, problems });
    const { webhook: url, schema = "EventGridSchema", secret } = read;
    return url === undefined
      ? undefined
      : { type: "webhook", url, schema: schema as EventSchema, secret };
  }
  const { queue, ...others } = readFields(where, input, { fields: queueFields, problems });
  return queue === undefined ? undefined : { type: "queue", queue, ...others };
}

function parseUrl(value: unknown, place: FieldPlace): string | undefined {
  const url = subject(value, place) ?? "";
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  const isPlain = `${parsed?.username}${parsed?.password}${parsed?.hash}` === "";
  if (parsed !== undefined && isHttp && isPlain) return parsed.href;
  return place.refuse("must be an http or https URL without a user name and a fragment");
}

function parseFilters(input: unknown, place: FieldPlace): readonly AdvancedFilter[] | undefined {
  if (input === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(input) ? input : [];
  if (!Array.isArray(input) || list.length > advancedFiltersMax) {
    return place.refuse(`must be a list of at most ${advancedFiltersMax} filters`);
  }
  const filters = list.flatMap((each, index) => {
    const where = `${place.where}: "advancedFilters" ${index + 1}`;
    return parseFilter(where, each, place.problems) ?? [];
  });
  const valuesCount = filters.reduce((count, { values }) => count + values.length, 0);
  if (valuesCount <= filterValuesMax) return filters;
  return place.refuse(`must have at most ${filterValuesMax} values together`);
}

const anything: Form<unknown> = (value) => value;
const filterFields = {
  operatorType: required(text(operatorForm)),
  key: required(text(keyForm)),
  value: anything,
  values: anything,
};

function parseFilter(
  where: string,
  input: unknown,
  problems: string[],
): AdvancedFilter | undefined {
  const given = readFields(where, input, { fields: filterFields, problems });
  const { operatorType, key } = given;
  if (operatorType === undefined || key === undefined) return undefined;
  const form = filterOperators[operatorType] ?? "none";
  const isSingle = form === "number" || form === "boolean";
  const [field, other] = isSingle ? (["value", "values"] as const) : (["values", "value"] as const);
  if (given[other] !== undefined) {
    return new FieldPlace(where, other, problems).refuse(`is not accepted by ${operatorType}`);
  }
  const list: unknown = isSingle ? [given.value] : (given.values ?? []);
  const isList = Array.isArray(list) && list.length <= filterValuesMax;
  const isValid =
    isList &&
    list.every((value) => isValue(form, value)) &&
    (form === "none") === (list.length === 0);
  if (isValid) return { operatorType, key, values: list as readonly FilterValue[] };
  return new FieldPlace(where, field, problems).refuse(problemOf(form));
}

function isValue(form: ValueForm, value: unknown): boolean {
  switch (form) {
    case "texts":
      return typeof value === "string" && value.length <= filterTextUnitsMax;
    case "numbers":
    case "number":
      return isNumber(value);
    case "ranges": {
      const [from, to, ...more] = Array.isArray(value) ? (value as readonly unknown[]) : [];
      return isNumber(from) && isNumber(to) && from <= to && more.length === 0;
    }
    case "boolean":
      return typeof value === "boolean";
    case "none":
      return false;
  }
}

/** Whether a JSON value is a finite number: JSON can contain numbers that are infinite here
 *  (1e999). */
function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function problemOf(form: ValueForm): string {
  const many = `must be a list of 1 to ${filterValuesMax}`;
  switch (form) {
    case "texts":
      return `${many} texts of at most ${filterTextUnitsMax} characters`;
    case "numbers":
      return `${many} numbers`;
    case "ranges":
      return `${many} ranges [from, to] with from ≤ to`;
    case "number":
      return "must be a number";
    case "boolean":
      return "must be true or false";
    case "none":
      return "is not accepted by this operator";
  }
}

import { eventTypeNames } from "./event-log.ts";
import {
  accountNameForm,
  isObject,
  ObjectReader,
  type SettingsResult,
  type TextForm,
} from "./object-reader.ts";
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

/** A subscription as the configuration and the admin API describe it; the names are those of Event
 *  Grid. */
export interface SubscriptionInput {
  readonly eventTypes?: readonly string[];
  readonly subjectBeginsWith?: string;
  readonly subjectEndsWith?: string;
  readonly isSubjectCaseSensitive?: boolean;
  readonly advancedFilters?: readonly object[];
  readonly destination:
    | { readonly queue: string; readonly account?: string }
    | { readonly webhook: string; readonly schema?: EventSchema; readonly secret?: string };
  readonly deadLetterContainer?: string;
  readonly maxDeliveryAttempts?: number;
  readonly eventTimeToLiveSeconds?: number;
}

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
const resourceForm: TextForm = {
  pattern: /^[a-z0-9](?:-?[a-z0-9]){2,62}$/,
  allowed: "a name of 3 to 63 lower-case letters, digits and single hyphens",
};
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

function oneOf(texts: readonly string[]): TextForm {
  const escaped = texts.map((text) => text.replaceAll(".", "\\."));
  return {
    pattern: new RegExp(`^(?:${escaped.join("|")})$`),
    allowed: `one of ${texts.join(", ")}`,
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

/** Parses a subscription; problems begin with `where`. */
export function parseSubscription(where: string, input: unknown): SettingsResult<Subscription> {
  const problems: string[] = [];
  const reader = new ObjectReader(where, input, problems);
  const subject = (field: string) => textOf(reader, field, subjectUnitsMax);
  const parsed = {
    eventTypes: parseTypes(reader),
    subjectBeginsWith: subject("subjectBeginsWith"),
    subjectEndsWith: subject("subjectEndsWith"),
    isSubjectCaseSensitive: booleanOf(reader, "isSubjectCaseSensitive"),
    advancedFilters: parseFilters(reader, where, problems),
    destination: parseDestination(reader, where, problems),
    deadLetterContainer: reader.optionalText("deadLetterContainer", resourceForm),
    maxDeliveryAttempts: wholeOf(reader, "maxDeliveryAttempts", attemptsMax) ?? attemptsMax,
    eventTimeToLiveSeconds:
      wholeOf(reader, "eventTimeToLiveSeconds", timeToLiveSecondsMax) ?? timeToLiveSecondsMax,
  };
  reader.end();
  const { destination } = parsed;
  if (problems.length > 0 || destination === undefined) return { ok: false, problems };
  return { ok: true, value: { ...parsed, destination } };
}

function textOf(reader: ObjectReader, field: string, unitsMax: number): string | undefined {
  const value = reader.object(field);
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && value.length <= unitsMax) return value;
  reader.refuse(field, `must be a text of at most ${unitsMax} characters`);
  return undefined;
}

function booleanOf(reader: ObjectReader, field: string): boolean | undefined {
  const value = reader.object(field);
  if (value === undefined || typeof value === "boolean") return value;
  reader.refuse(field, "must be true or false");
  return undefined;
}

function wholeOf(reader: ObjectReader, field: string, max: number): number | undefined {
  const value = reader.object(field);
  if (value === undefined) return undefined;
  const isWhole = typeof value === "number" && Number.isInteger(value);
  if (isWhole && value >= 1 && value <= max) return value;
  reader.refuse(field, `must be a whole number, 1 to ${max}`);
  return undefined;
}

function parseTypes(reader: ObjectReader): readonly string[] | undefined {
  const types = reader.texts("eventTypes", typeForm);
  if (types?.length !== 0) return types && [...new Set(types)];
  reader.refuse(
    "eventTypes",
    "must not be empty; without it, all types of Event Grid are delivered",
  );
  return undefined;
}

function parseDestination(
  reader: ObjectReader,
  where: string,
  problems: string[],
): Destination | undefined {
  const input = reader.object("destination");
  if (!isObject(input) || !("queue" in input || "webhook" in input)) {
    reader.refuse("destination", 'must be { "queue": … } or { "webhook": … }');
    return undefined;
  }
  const inner = new ObjectReader(`${where}: "destination"`, input, problems);
  if ("webhook" in input) return parseWebhook(inner);
  const queue = inner.text("queue", resourceForm);
  const account = inner.optionalText("account", accountNameForm);
  const field = "messageTimeToLiveSeconds";
  const messageTimeToLiveSeconds = wholeOf(inner, field, messageTimeToLiveSecondsMax);
  inner.end();
  if (queue === undefined) return undefined;
  return { type: "queue", queue, account, messageTimeToLiveSeconds };
}

function parseWebhook(inner: ObjectReader): Destination | undefined {
  const url = textOf(inner, "webhook", subjectUnitsMax) ?? "";
  const schema = inner.optionalText("schema", schemaForm);
  const secret = inner.optionalText("secret", secretForm);
  inner.end();
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  const isPlain = `${parsed?.username}${parsed?.password}${parsed?.hash}` === "";
  if (parsed === undefined || !isHttp || !isPlain) {
    inner.refuse("webhook", "must be an http or https URL without a user name and a fragment");
    return undefined;
  }
  const chosen = (schema ?? "EventGridSchema") as EventSchema;
  return { type: "webhook", url: parsed.href, schema: chosen, secret };
}

function parseFilters(
  reader: ObjectReader,
  where: string,
  problems: string[],
): readonly AdvancedFilter[] | undefined {
  const input = reader.object("advancedFilters");
  if (input === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(input) ? input : [];
  if (!Array.isArray(input) || list.length > advancedFiltersMax) {
    reader.refuse("advancedFilters", `must be a list of at most ${advancedFiltersMax} filters`);
    return undefined;
  }
  const filters = list.flatMap((each, index) => {
    const filter = parseFilter(`${where}: "advancedFilters" ${index + 1}`, each, problems);
    return filter === undefined ? [] : [filter];
  });
  const valuesCount = filters.reduce((count, { values }) => count + values.length, 0);
  if (valuesCount <= filterValuesMax) return filters;
  reader.refuse("advancedFilters", `must have at most ${filterValuesMax} values together`);
  return undefined;
}

function parseFilter(
  where: string,
  input: unknown,
  problems: string[],
): AdvancedFilter | undefined {
  const reader = new ObjectReader(where, input, problems);
  const operatorType = reader.text("operatorType", operatorForm);
  const key = reader.text("key", keyForm);
  const given = { value: reader.object("value"), values: reader.object("values") };
  reader.end();
  if (operatorType === undefined || key === undefined) return undefined;
  const form = filterOperators[operatorType] ?? "none";
  const isSingle = form === "number" || form === "boolean";
  const [field, other] = isSingle ? (["value", "values"] as const) : (["values", "value"] as const);
  if (given[other] !== undefined) {
    reader.refuse(other, `is not accepted by ${operatorType}`);
    return undefined;
  }
  const list: unknown = isSingle ? [given.value] : (given.values ?? []);
  const isList = Array.isArray(list) && list.length <= filterValuesMax;
  const isValid =
    isList &&
    list.every((value) => isValue(form, value)) &&
    (form === "none") === (list.length === 0);
  if (isValid) return { operatorType, key, values: list as readonly FilterValue[] };
  reader.refuse(field, problemOf(form));
  return undefined;
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

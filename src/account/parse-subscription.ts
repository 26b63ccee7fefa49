import { isObject, ObjectReader, type SettingsResult } from "./object-reader.ts";
import type {
  AdvancedFilter,
  Destination,
  EventSchema,
  FilterValue,
  Subscription,
} from "./subscription.ts";

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

/** Limits of Azure for one subscription. */
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
const eventTypesMax = 50;
const subjectUnitsMax = 2048;
const messageTimeToLiveSecondsMax = 2 ** 31 - 1;
const resourceName = /^[a-z0-9](?:-?[a-z0-9]){2,62}$/;
const accountForm = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;
const secretForm = /^[\x21-\x7e]{8,256}$/;

/** What an operator compares with: the form of its values. */
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

export function findSubscriptionNameProblem(name: string): string | undefined {
  if (subscriptionNameForm.test(name)) return undefined;
  const shown = JSON.stringify(name.slice(0, shownUnitsMax));
  return `subscription ${shown}: a name is 3 to 64 letters, digits and hyphens`;
}

/** The form of the configuration of a parsed subscription. */
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
    deadLetterContainer: reader.optionalText("deadLetterContainer", resourceName),
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
  const types = reader.texts("eventTypes", /^[A-Za-z][A-Za-z.]{1,99}$/);
  if (types === undefined || types.length <= eventTypesMax) return types;
  reader.refuse("eventTypes", `must be a list of at most ${eventTypesMax} types`);
  return undefined;
}

function parseDestination(
  reader: ObjectReader,
  where: string,
  problems: string[],
): Destination | undefined {
  const input = reader.object("destination");
  if (input === undefined) {
    reader.refuse("destination", 'is missing: { "queue": … } or { "webhook": … }');
    return undefined;
  }
  const inner = new ObjectReader(`${where}: "destination"`, input, problems);
  if (isObject(input) && "webhook" in input) return parseWebhook(inner);
  const queue = inner.text("queue", resourceName);
  const account = inner.optionalText("account", accountForm);
  const field = "messageTimeToLiveSeconds";
  const messageTimeToLiveSeconds = wholeOf(inner, field, messageTimeToLiveSecondsMax);
  inner.end();
  if (queue === undefined) return undefined;
  return { type: "queue", queue, account, messageTimeToLiveSeconds };
}

function parseWebhook(inner: ObjectReader): Destination | undefined {
  const url = textOf(inner, "webhook", subjectUnitsMax) ?? "";
  const schema = inner.optionalText("schema", /^(?:EventGridSchema|CloudEventSchemaV1_0)$/);
  const secret = inner.optionalText("secret", secretForm);
  inner.end();
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (parsed === undefined || !isHttp || parsed.username !== "" || parsed.hash !== "") {
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
  const names = Object.keys(filterOperators).join("|");
  const operatorType = reader.text("operatorType", new RegExp(`^(?:${names})$`));
  const key = reader.text("key", /^[A-Za-z][A-Za-z0-9_.]{0,127}$/);
  const values = [reader.object("value"), reader.object("values")];
  reader.end();
  if (operatorType === undefined || key === undefined) return undefined;
  const form = filterOperators[operatorType] ?? "none";
  const isSingle = form === "number" || form === "boolean";
  const given = isSingle ? [values[0]] : (values[1] ?? (form === "none" ? [] : undefined));
  const isList = Array.isArray(given) && given.length <= filterValuesMax;
  const list = isList ? (given as readonly unknown[]) : [undefined];
  const isValid =
    list.every((value) => isValue(form, value)) && (list.length > 0 || form === "none");
  if (isValid) return { operatorType, key, values: list as readonly FilterValue[] };
  reader.refuse(isSingle ? "value" : "values", problemOf(form));
  return undefined;
}

function isValue(form: ValueForm, value: unknown): boolean {
  switch (form) {
    case "texts":
      return typeof value === "string" && value.length <= filterTextUnitsMax;
    case "numbers":
    case "number":
      return typeof value === "number";
    case "ranges":
      return Array.isArray(value) && value.length === 2 && value.every((one) => isNumber(one));
    case "boolean":
      return typeof value === "boolean";
    case "none":
      return false;
  }
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}

function problemOf(form: ValueForm): string {
  const many = `must be a list of 1 to ${filterValuesMax}`;
  switch (form) {
    case "texts":
      return `${many} texts of at most ${filterTextUnitsMax} characters`;
    case "numbers":
      return `${many} numbers`;
    case "ranges":
      return `${many} ranges [from, to]`;
    case "number":
      return "must be a number";
    case "boolean":
      return "must be true or false";
    case "none":
      return "is not accepted by this operator";
  }
}

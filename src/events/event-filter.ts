import { standardTypes } from "../account/event-log.ts";
import { allTypes, type FilterKey } from "../account/parse-subscription.ts";
import type { AdvancedFilter, FilterValue, Subscription } from "../account/subscription.ts";
import type { EventGridEvent } from "./render-event.ts";

/** Decides which events a subscription gets, for `subscription-run.ts` and `log-retention.ts`. */

export type EventFilter = (event: EventGridEvent) => boolean;

/** Returns the filter of a subscription, which accepts an event if all its conditions hold.
 *  learn.microsoft.com/azure/event-grid/event-filtering */
export function filterOf(subscription: Subscription): EventFilter {
  const { eventTypes, isSubjectCaseSensitive = false, advancedFilters = [] } = subscription;
  const types = eventTypes === undefined ? standardTypes : new Set(eventTypes);
  const hasAllTypes = types.has(allTypes);
  const folded = (text: string) => (isSubjectCaseSensitive ? text : text.toLowerCase());
  const begin = folded(subscription.subjectBeginsWith ?? "");
  const end = folded(subscription.subjectEndsWith ?? "");
  const conditions = advancedFilters.map(conditionOf);
  return (event) => {
    if (!hasAllTypes && !types.has(event.eventType)) return false;
    const subject = folded(event.subject);
    if (!subject.startsWith(begin) || !subject.endsWith(end)) return false;
    return conditions.every((holds) => holds(event));
  };
}

/** Tests of the operators for texts. Both texts are in lower case: Event Grid ignores case. */
const textTests: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  In: (text, value) => text === value,
  BeginsWith: (text, value) => text.startsWith(value),
  EndsWith: (text, value) => text.endsWith(value),
  Contains: (text, value) => text.includes(value),
};

const numberTests: Readonly<Record<string, (number: number, value: number) => boolean>> = {
  In: (number, value) => number === value,
  LessThan: (number, value) => number < value,
  LessThanOrEquals: (number, value) => number <= value,
  GreaterThan: (number, value) => number > value,
  GreaterThanOrEquals: (number, value) => number >= value,
};

const operatorForm = /^(String|Number)(Not)?(\w+)$/;

/** A condition holds for any of its values; one with `Not` in its name for none. If the event lacks
 *  the field, only conditions with `Not` and `IsNullOrUndefined` hold. */
function conditionOf({ operatorType, key, values }: AdvancedFilter): EventFilter {
  const read = reader(key);
  if (operatorType === "IsNullOrUndefined") return (event) => isAbsent(read(event));
  if (operatorType === "IsNotNull") return (event) => !isAbsent(read(event));
  if (operatorType === "BoolEquals") return (event) => read(event) === values[0];
  const [, kind = "", not = "", test = ""] = operatorForm.exec(operatorType) ?? [];
  const holdsFor = kind === "String" ? textCondition(test, values) : numberCondition(test, values);
  return not === "" ? (event) => holdsFor(read(event)) : (event) => !holdsFor(read(event));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function textCondition(test: string, values: readonly FilterValue[]): (field: unknown) => boolean {
  const compare = textTests[test];
  if (compare === undefined) throw new Error(`no text operator "${test}"`);
  const texts = values.map((value) => String(value).toLowerCase());
  return (field) => {
    if (typeof field !== "string") return false;
    const text = field.toLowerCase();
    return texts.some((value) => compare(text, value));
  };
}

function numberCondition(
  test: string,
  values: readonly FilterValue[],
): (field: unknown) => boolean {
  if (test === "InRange") {
    const ranges = values as readonly (readonly [number, number])[];
    return (field) =>
      typeof field === "number" && ranges.some(([from, to]) => field >= from && field <= to);
  }
  const compare = numberTests[test];
  if (compare === undefined) throw new Error(`no number operator "${test}"`);
  return (field) =>
    typeof field === "number" && values.some((value) => compare(field, value as number));
}

/** Returns a function that reads the field of an event that a condition names. Names do not depend
 *  on case; those of both schemas are known. */
function reader(key: string): (event: EventGridEvent) => unknown {
  const [first = "", ...rest] = key.toLowerCase().split(".");
  if (first === "data") return ({ data }) => fieldOf(data, rest);
  const field = topFields[first as FilterKey];
  return (event) => event[field];
}

const topFields: Readonly<Record<FilterKey, keyof EventGridEvent>> = {
  id: "id",
  topic: "topic",
  source: "topic",
  subject: "subject",
  eventtype: "eventType",
  type: "eventType",
  eventtime: "eventTime",
  time: "eventTime",
  dataversion: "dataVersion",
};

function fieldOf(value: unknown, names: readonly string[]): unknown {
  let found = value;
  for (const name of names) {
    if (typeof found !== "object" || found === null) return undefined;
    const entry = Object.entries(found).find(([each]) => each.toLowerCase() === name);
    found = entry?.[1];
  }
  return found;
}

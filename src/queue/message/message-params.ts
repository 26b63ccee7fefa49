import { invalidQuery, outOfRangeQuery } from "../../protocol/faults.ts";
import { query, required, text, type Param, type ParamReader } from "../../protocol/params.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { isAtLeast } from "../../protocol/versions.ts";

const daySeconds = 86_400;
const weekSeconds = 7 * daySeconds;
/** Limit of Get Messages before version 2011-08-18. */
const oldVisibilitySecondsMax = 7200;
const int32Max = 2_147_483_647;

/** Limit of the service for `numofmessages`. */
const messagesPerGetMax = 32;
/** Visibility timeout of messages that Get Messages returns if the request has none. */
export const defaultVisibilitySeconds = 30;
/** Value of `messagettl` for a message that never expires. */
export const neverExpires = -1;

interface NumberRange {
  readonly min: number;
  readonly max: number;
}

/** A 32-bit number within a range that depends on the version. The fault for a number out of range
 *  names the range; the fault for any other text does not. */
function boundedNumber(
  name: string,
  rangeAt: (version: string) => NumberRange,
): Param<number | undefined> {
  return {
    sources: [`?${name}`],
    parse: (reader) => {
      const given = reader.query(name);
      if (given === undefined || given === "") return ok(undefined);
      const value = parseInt32(given);
      if (value === undefined) return invalidQuery(name, given);
      const { min, max } = rangeAt(reader.version);
      return value < min || value > max ? outOfRangeQuery(name, given, min, max) : ok(value);
    },
  };
}

function parseInt32(given: string): number | undefined {
  if (!/^-?\d{1,10}$/.test(given)) return undefined;
  const value = Number(given);
  return Math.abs(value) > int32Max ? undefined : value;
}

/** `numofmessages` of Get Messages and Peek Messages. */
export const messageCount = boundedNumber("numofmessages", () => ({
  min: 1,
  max: messagesPerGetMax,
}));

/** `visibilitytimeout` of Get Messages. */
export const getVisibilityTimeout = boundedNumber("visibilitytimeout", (version) => ({
  min: 1,
  max: isAtLeast(version, "2011-08-18") ? weekSeconds : oldVisibilitySecondsMax,
}));

const visibilityTimeout = boundedNumber("visibilitytimeout", () => ({ min: 0, max: weekSeconds }));

/** `visibilitytimeout` of Update Message. */
export const updateVisibilityTimeout = required(visibilityTimeout);

export const popReceipt = required(query("popreceipt", text));

interface Lifetime {
  readonly visibilitySeconds: number;
  readonly timeToLiveSeconds: number;
}

/** Visibility timeout and time to live of a new message. It must become visible before
 *  it expires. */
export const lifetime: Param<Lifetime> = {
  sources: ["?visibilitytimeout", "?messagettl"],
  parse: (reader) => {
    const visibility = visibilityTimeout.parse(reader);
    if (!visibility.ok) return visibility;
    const life = parseTimeToLive(reader);
    if (!life.ok) return life;
    const visibilitySeconds = visibility.value ?? 0;
    const timeToLiveSeconds = life.value;
    if (timeToLiveSeconds !== neverExpires && visibilitySeconds >= timeToLiveSeconds) {
      const reason = "messagettl must be greater than visibilitytimeout";
      return invalidQuery("visibilitytimeout", String(visibilitySeconds), reason);
    }
    return ok({ visibilitySeconds, timeToLiveSeconds });
  },
};

const timeToLive = boundedNumber("messagettl", (version) => ({
  min: 1,
  max: allowsAnyTimeToLive(version) ? int32Max : weekSeconds,
}));

function allowsAnyTimeToLive(version: string): boolean {
  return isAtLeast(version, "2017-07-29");
}

function parseTimeToLive(reader: ParamReader): Result<number> {
  const isUnlimited = reader.query("messagettl") === String(neverExpires);
  if (isUnlimited && allowsAnyTimeToLive(reader.version)) return ok(neverExpires);
  const life = timeToLive.parse(reader);
  return life.ok ? ok(life.value ?? weekSeconds) : life;
}

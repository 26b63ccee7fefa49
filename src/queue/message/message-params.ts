import { invalidQuery, outOfRangeQuery } from "../../protocol/faults.ts";
import { query, required, text, type Param, type ParamReader } from "../../protocol/params.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { isAtLeast } from "../../protocol/versions.ts";

const daySeconds = 86_400;
const weekSeconds = 7 * daySeconds;
/** What a get could ask for before updates were possible. */
const oldVisibilitySecondsMax = 7200;
const int32Max = 2_147_483_647;

export const messagesPerGetMax = 32;
export const getVisibilitySeconds = 30;
export const neverExpires = -1;

export interface SecondsRange {
  readonly min: number;
  readonly max: number;
}

/** Numbers outside of the range are answered with the range, other texts just refused. */
function boundedNumber(
  name: string,
  rangeAt: (version: string) => SecondsRange,
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

export const messageCount = boundedNumber("numofmessages", () => ({
  min: 1,
  max: messagesPerGetMax,
}));

export const visibilityOfGet = boundedNumber("visibilitytimeout", (version) => ({
  min: 1,
  max: isAtLeast(version, "2011-08-18") ? weekSeconds : oldVisibilitySecondsMax,
}));

const anyVisibility = boundedNumber("visibilitytimeout", () => ({ min: 0, max: weekSeconds }));

export const visibilityOfUpdate = required(anyVisibility);

export const popReceipt = required(query("popreceipt", text));

export interface Lifetime {
  readonly visibilitySeconds: number;
  readonly lifeSeconds: number;
}

/** When a new message shows and when it goes: it must show before it goes. */
export const lifetime: Param<Lifetime> = {
  sources: ["?visibilitytimeout", "?messagettl"],
  parse: (reader) => {
    const visibility = anyVisibility.parse(reader);
    if (!visibility.ok) return visibility;
    const life = parseLife(reader);
    if (!life.ok) return life;
    const visibilitySeconds = visibility.value ?? 0;
    const lifeSeconds = life.value;
    if (lifeSeconds !== neverExpires && visibilitySeconds >= lifeSeconds) {
      const reason = "messagettl must be greater than visibilitytimeout";
      return invalidQuery("visibilitytimeout", String(visibilitySeconds), reason);
    }
    return ok({ visibilitySeconds, lifeSeconds });
  },
};

const anyLife = boundedNumber("messagettl", (version) => ({
  min: 1,
  max: mayLiveLong(version) ? int32Max : weekSeconds,
}));

function mayLiveLong(version: string): boolean {
  return isAtLeast(version, "2017-07-29");
}

function parseLife(reader: ParamReader): Result<number> {
  const isEndless = reader.query("messagettl") === String(neverExpires);
  if (isEndless && mayLiveLong(reader.version)) return ok(neverExpires);
  const life = anyLife.parse(reader);
  return life.ok ? ok(life.value ?? weekSeconds) : life;
}

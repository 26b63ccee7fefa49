import { byKey, type Operation } from "./history.ts";

/** Leases that end by themselves. */
export type TimedLeaseInput =
  | { readonly action: "acquire"; readonly lease: string; readonly seconds: number }
  | { readonly action: "renew"; readonly lease: string; readonly seconds: number }
  | { readonly action: "release"; readonly lease: string }
  | { readonly action: "write"; readonly lease?: string };

type TimedLeaseOperation = Operation<TimedLeaseInput, { readonly status: number }>;

/** When a lease was held for sure, and when perhaps, in microseconds. */
interface Term {
  readonly lease: string;
  readonly sureFrom: number;
  readonly sureUntil: number;
  readonly maybeFrom: number;
  readonly maybeUntil: number;
}

const microsecondsPerSecond = 1_000_000;
/** A server rounds, and time passes between its decision and its answer. */
const lateMicrosecondsMax = 1_000_000;

/** Expiry in the store's time: never before its time, and not long after. */
export function checkTimedLeases(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly TimedLeaseOperation[])].flatMap(([key, all]) => {
    const terms = termsOf(all);
    const problems = [...overlaps(terms), ...intrusions(all, terms), ...endless(all, terms)];
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

/** One for each acquire and renewal that may have happened. A release ends it where it was called,
 *  at the earliest. */
function termsOf(operations: readonly TimedLeaseOperation[]): readonly Term[] {
  return operations.flatMap(({ input, output, called, returned }) => {
    if (input.action !== "acquire" && input.action !== "renew") return [];
    if (output !== undefined && output.status >= 300) return [];
    const length = input.seconds * microsecondsPerSecond;
    const ends = operations.filter(
      (other) =>
        other.input.action === "release" &&
        other.input.lease === input.lease &&
        (other.output?.status ?? 200) < 300,
    );
    const released = Math.min(...ends.map((end) => end.called));
    const surelyReleased = Math.min(...ends.map((end) => end.returned));
    return [
      {
        lease: input.lease,
        sureFrom: returned,
        sureUntil: Math.min(called + length, released),
        maybeFrom: called,
        maybeUntil: Math.min(returned + length, surelyReleased),
      },
    ];
  });
}

function overlaps(terms: readonly Term[]): readonly string[] {
  return terms.flatMap((one, index) =>
    terms.slice(index + 1).flatMap((other) => {
      const from = Math.max(one.sureFrom, other.sureFrom);
      const until = Math.min(one.sureUntil, other.sureUntil);
      if (one.lease === other.lease || from >= until) return [];
      return [`${one.lease} and ${other.lease} both held it for ${until - from} µs`];
    }),
  );
}

/** Writes that succeeded wholly inside somebody else's term. */
function intrusions(
  operations: readonly TimedLeaseOperation[],
  terms: readonly Term[],
): readonly string[] {
  return operations.flatMap(({ id, input, output, called, returned }) => {
    if (input.action !== "write" || output === undefined || output.status >= 300) return [];
    const victim = terms.find(
      (term) => term.lease !== input.lease && term.sureFrom < called && returned < term.sureUntil,
    );
    return victim === undefined ? [] : [`${id} wrote while ${victim.lease} held it`];
  });
}

/** Refused, though the last lease had ended a while ago. */
function endless(
  operations: readonly TimedLeaseOperation[],
  terms: readonly Term[],
): readonly string[] {
  return operations.flatMap(({ id, input, output, called, returned }) => {
    if (input.action !== "acquire" || output?.status !== 409) return [];
    const mayBeHeld = terms.some(
      ({ lease, maybeFrom, maybeUntil }) =>
        lease !== input.lease && maybeFrom < returned && called < maybeUntil + lateMicrosecondsMax,
    );
    return mayBeHeld ? [] : [`${id} was refused, but no lease can have been left`];
  });
}

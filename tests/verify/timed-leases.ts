import { byKey, type Operation } from "./history.ts";

/** Leases with a duration. */
export type TimedLeaseInput =
  | { readonly action: "acquire"; readonly lease: string; readonly seconds: number }
  | { readonly action: "renew"; readonly lease: string; readonly seconds: number }
  | { readonly action: "release"; readonly lease: string }
  | { readonly action: "write"; readonly lease?: string };

type TimedLeaseOperation = Operation<TimedLeaseInput, { readonly status: number }>;

/** When a lease was certainly held, and when possibly, in microseconds. */
interface Term {
  readonly lease: string;
  readonly sureFrom: number;
  readonly sureUntil: number;
  readonly maybeFrom: number;
  readonly maybeUntil: number;
}

const microsecondsPerSecond = 1_000_000;
/** Allows for rounding and for the time between decision and response. */
const lateMicrosecondsMax = 1_000_000;

/** Expiry by store time: never early, and not much later. */
export function checkTimedLeases(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly TimedLeaseOperation[])].flatMap(([key, all]) => {
    const terms = termsOf(all);
    const problems = [...overlaps(terms), ...intrusions(all, terms), ...endless(all, terms)];
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

/**
 * One term per acquire and renewal that may have happened. A release ends it at its call, at the
 * earliest.
 */
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

/** Writes that succeeded entirely within another client's term. */
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

/** Rejected although the last lease had ended a while before. */
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

import { nowMilliseconds } from "../clock.ts";
import { createStore } from "../store.ts";

interface OwnLease {
  readonly id: string;
  /** After this time the lease has expired, and its id would be rejected. */
  readonly untilMilliseconds: number;
}

const storageKey = "etagere-leases";

/** Leases acquired in this browser tab, by resource; they survive a reload of the page. */
export const ownLeases = createStore<Readonly<Record<string, OwnLease>>>(readKept());

function readKept(): Readonly<Record<string, OwnLease>> {
  try {
    const text = sessionStorage.getItem(storageKey) ?? "{}";
    return JSON.parse(text) as Readonly<Record<string, OwnLease>>;
  } catch {
    return {};
  }
}

function leaseKey(service: string, path: readonly string[]): string {
  return `${service} ${path.join("/")}`;
}

/** The id to send with a write; undefined without a lease of this tab. */
export function ownLease(service: string, path: readonly string[]): string | undefined {
  const held = ownLeases.get()[leaseKey(service, path)];
  return held !== undefined && held.untilMilliseconds > nowMilliseconds() ? held.id : undefined;
}

/** A lease without an end is kept for a day: the browser tab does not last longer. */
const endlessMilliseconds = 86_400_000;

function endOf(now: number, durationSeconds: number): number {
  return now + (durationSeconds < 0 ? endlessMilliseconds : durationSeconds * 1000);
}

export function keepLease(
  service: string,
  path: readonly string[],
  lease: { readonly id: string; readonly durationSeconds: number } | undefined,
): void {
  const now = nowMilliseconds();
  const others = Object.entries(ownLeases.get()).filter(
    ([key, { untilMilliseconds }]) => key !== leaseKey(service, path) && untilMilliseconds > now,
  );
  const own: [string, OwnLease][] =
    lease === undefined
      ? []
      : [
          [
            leaseKey(service, path),
            { id: lease.id, untilMilliseconds: endOf(now, lease.durationSeconds) },
          ],
        ];
  const next = Object.fromEntries([...others, ...own]);
  ownLeases.set(next);
  sessionStorage.setItem(storageKey, JSON.stringify(next));
}

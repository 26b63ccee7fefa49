import type { StartOptions } from "../../src/index.ts";
import { ticksPerMillisecond } from "../../src/base/ticks.ts";
import type { Clock } from "../../src/base/world.ts";
import { resolveOptions } from "../../src/server/options.ts";
import { simWorld } from "../harness/sim-world.ts";
import { realEnvironment } from "../../src/host/world.ts";
import { startWith, type EtagereServer } from "../../src/server/start.ts";
import { freePorts } from "../harness/server.ts";

/** A real clock with accelerated short timers that a test can advance. */
export interface QuickClock extends Clock {
  skip(seconds: number): void;
}

const timesQuicker = 50;
/** Longer timers limit how long a client or a disk may take. A busy machine would exceed them. */
const defaultQuickMillisecondsMax = 1000;
const millisecondsPerSecond = 1000;

export interface AdminServer extends AsyncDisposable {
  readonly server: EtagereServer;
  readonly clock: QuickClock;
  readonly url: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  json<T = Json>(path: string): Promise<T>;
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
}

/** Required by every request to the admin API. */
export const adminHeaders = { "x-etagere-admin": "1" };

export type Json = Readonly<Record<string, unknown>>;

export async function adminServer(
  options: StartOptions = {},
  quickMillisecondsMax = defaultQuickMillisecondsMax,
): Promise<AdminServer> {
  // The test clock sets the store time, which a database engine does not allow.
  const place = options.location === undefined ? { inMemoryPersistence: true } : {};
  const resolved = resolveOptions({ ...freePorts, ...place, ...options });
  if (!resolved.ok) throw new Error(resolved.problems.join("\n"));
  const { log } = simWorld(1);
  const real = realEnvironment(log);
  const clock = quickClock(real.clock, quickMillisecondsMax);
  const server = await startWith(resolved.value, { ...real, clock, announce: () => {} });
  const url = server.adminUrl;
  const get = (path: string, headers = {}): Promise<Response> =>
    fetch(url + path, { headers: { ...adminHeaders, ...headers } });
  return {
    server,
    clock,
    url,
    get,
    json: async <T>(path: string) => (await (await get(path)).json()) as T,
    post: (path, body = {}, headers = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: { ...adminHeaders, "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function quickClock(real: Clock, quickMillisecondsMax: number): QuickClock {
  let skipped = 0n;
  return {
    bootId: real.bootId,
    wall: () => real.wall() + skipped,
    monotonic: () => real.monotonic() + skipped,
    after: (milliseconds, run) => {
      const isQuick = milliseconds <= quickMillisecondsMax;
      return real.after(isQuick ? milliseconds / timesQuicker : milliseconds, run);
    },
    nextIteration: (run) => real.nextIteration(run),
    skip(seconds) {
      skipped += BigInt(seconds * millisecondsPerSecond) * ticksPerMillisecond;
    },
  };
}

import { resolve } from "node:path";
import type { DataLocation, OpenDataLocation } from "../data/data-locations.ts";
import type { DataStores } from "../data/data-stores.ts";
import { defaultLocation } from "../server/flags.ts";
import { resolveOptions, type Options, type ServerOptionInputs } from "../server/options.ts";
import { readSecrets } from "../server/secret-options.ts";
import { environmentVariable, realEnvironment } from "../host/world.ts";
import { StartRefused } from "../host/refused.ts";
import type { Log } from "../base/world.ts";
import type { Options as CommandOptions } from "./command.ts";

/** What commands need that work on data directly, without a running server: their options, and
 *  functions that open and close the data. */

/** The options of a command line as the user gave them; undefined ones were not given. */
type GivenOptions = {
  readonly [N in keyof ServerOptionInputs]?: ServerOptionInputs[N] | undefined;
};

type World = ReturnType<typeof realEnvironment>;

/** The option of commands that may open encrypted data without a server. */
export const encryptionOption = {
  encryption: {
    kind: "text",
    value: "SOURCE",
    help: "master key of encrypted data: file:PATH, env:NAME or command:…",
  },
} as const satisfies CommandOptions;

/** Options of commands that open stores without a server. */
export const storeOptions = {
  store: { kind: "url", value: "URL", help: "without a server: records in postgres://…" },
  storeFile: { kind: "file", value: "FILE", help: "file that contains the value of --store" },
  content: { kind: "url", value: "URL", help: "without a server: contents in s3://…" },
  ...encryptionOption,
} as const satisfies CommandOptions;

/** Checks options as the server does; throws `StartRefused` with their problems. */
export async function checkOptions(given: GivenOptions): Promise<Options> {
  const spell = (name: string): string => `--${name}`;
  const named = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as ServerOptionInputs;
  const read = await readSecrets(named, { spell, variable: environmentVariable });
  const checked = read.ok ? resolveOptions(read.value, spell) : read;
  if (!checked.ok) throw new StartRefused(checked.problems);
  return checked.value;
}

export function locationOf({ location }: Options): string {
  return resolve(location ?? defaultLocation);
}

/** Runs `work` with the stores that options name, and with the background tasks of a server
 *  (deletion of data that nothing refers to, for example). Then closes the stores. */
export async function withStores<T>(
  options: Options,
  work: (stores: DataStores, world: World) => Promise<T>,
): Promise<T> {
  const { openDataStores } = await import("../data/data-stores.ts");
  const world = realEnvironment(quietLog);
  const { store: storeUrl, content: contentUrl, encryption } = options;
  const places = { storeUrl, contentUrl, memoryBytesMax: undefined, encryption };
  const named = { location: locationOf(options), ...places };
  return useAndClose(openDataStores({ ...named, ...world }), (stores) => work(stores, world));
}

/** Runs `work` with the records and contents of a location, without background tasks; then closes
 *  them. `newKeys` are the data keys of a new location that is encrypted. */
export async function withLocation<T>(
  location: DataLocation,
  work: (data: OpenDataLocation, world: World) => Promise<T>,
  newKeys?: OpenDataLocation["dataKeys"],
): Promise<T> {
  const { openDataLocation } = await import("../data/data-locations.ts");
  const world = realEnvironment(quietLog);
  return useAndClose(openDataLocation(location, world, newKeys), (data) => work(data, world));
}

/** Like `withLocation`, with the data folder of a server that is not running. Throws if the folder
 *  does not exist, because opening it would create it. */
export async function withFolder<T>(
  { location = defaultLocation, encryption }: FolderValues,
  work: (data: OpenDataLocation, world: World) => Promise<T>,
): Promise<T> {
  const { isMissing } = await import("../data/data-locations.ts");
  const folder = { records: resolve(location), bytes: undefined, encryption };
  if (isMissing(folder)) throw new Error(`${location}: not a data folder, and no server uses it`);
  return withLocation(folder, work);
}

interface FolderValues {
  readonly location: string | undefined;
  readonly encryption: string | undefined;
}

function useAndClose<D extends { close(): Promise<void> }, T>(
  opening: Promise<D>,
  work: (data: D) => Promise<T>,
): Promise<T> {
  return keepRunning(async () => {
    const data = await opening;
    try {
      return await work(data);
    } finally {
      await data.close();
    }
  });
}

/** Runs `work`. The timers of the storage clients do not keep the process running; without the one
 *  here it would end while it waits. */
export async function keepRunning<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const nothing = (): void => undefined;

/** A log that writes nothing, for commands whose only output is a report. */
export const quietLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

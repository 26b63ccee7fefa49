import { ServerArchives } from "./archive/server-archives.ts";
import type { DataStores } from "./data-stores.ts";
import { completeAccounts } from "./ensure-accounts.ts";
import type { RunningServerOptions } from "./running-server.ts";
import { ServerSnapshots } from "./snapshots/server-snapshots.ts";

/** Operations of a running server on the whole state of accounts. */
export interface StateControls {
  readonly snapshots: ServerSnapshots;
  readonly archives: ServerArchives;
}

export function stateControls(
  given: Pick<RunningServerOptions, "accounts" | "random" | "log">,
  engines: Pick<DataStores, "store" | "content">,
): StateControls {
  const { accounts, random, log } = given;
  const { store } = engines;
  const onRestored = () => completeAccounts(store, given);
  const isConfigured = (name: string): boolean => accounts.isConfigured(name);
  const onLoaded = () => accounts.refresh();
  return {
    snapshots: new ServerSnapshots({ store, random, log, onRestored }),
    archives: new ServerArchives({ engines, random, log, isConfigured, onLoaded }),
  };
}

import { sendCall, type ServiceReply } from "../../admin/call-service.ts";
import { openDataStores, type DataStores } from "../../data/data-stores.ts";
import { ensureAccounts } from "../../data/ensure-accounts.ts";
import { createInitAccounts } from "./init-accounts.ts";
import { StartRefused } from "../../host/refused.ts";
import { nameOf, parseInit, type InitRequest, type InitStep } from "./resource-steps.ts";
import type { HttpService } from "../../http/http-service.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { Accounts, AccountSettings } from "../../account/settings.ts";
import type { World } from "../../base/world.ts";
import type { InitInput } from "./init-input.ts";
import { StoredAccounts } from "../../account/stored-accounts.ts";

/** Creates the resources of `--init` when a server starts. `resource-steps.ts` parses the input. */

/** The parts of the server that `applyInit` needs. `accounts` are those that the server serves. */
interface InitParts extends World {
  readonly accounts: Accounts;
  readonly servicesOf: ServicesOf;
}

/** Returns the services of a store as they run behind the listeners. Here they get requests of this
 *  process. */
type ServicesOf = (stores: DataStores, accounts: Accounts) => ReadonlyMap<ServiceName, HttpService>;

type ParsedInit = ReturnType<typeof parseInit>;

/** Creates what `init` describes and does not exist yet, through the operations of the services.
 *  All requests are first sent to services on an empty store in memory: what they reject there is
 *  refused before the server's own data is changed. */
export async function applyInit(
  given: InitParts,
  stores: DataStores,
  init: string | InitInput,
): Promise<void> {
  const { random, accounts, servicesOf } = given;
  const parsed = parseInit(init, accounts);
  const refuse = (problems: readonly string[]): void => {
    if (problems.length === 0) return;
    throw new StartRefused(problems.map((problem) => `${nameOf(init)}: ${problem}`));
  };
  refuse(await rehearse(given, parsed));
  refuse(await createInitAccounts({ store: stores.store, random, accounts }, parsed.accounts));
  const { steps } = parsed;
  const created = await runSteps(callsTo(servicesOf(stores, accounts)), steps);
  refuse(created.problems);
  const accountCount = parsed.accounts.length;
  const described = steps.length + accountCount;
  given.log.info({ created: created.count + accountCount, described }, "initial resources created");
}

/** Creates everything in an empty store in memory, which is then discarded, and returns the
 *  problems. */
async function rehearse(given: InitParts, parsed: ParsedInit): Promise<readonly string[]> {
  const { clock, random, log } = given;
  const nowhere = { location: undefined, storeUrl: undefined, contentUrl: undefined };
  const options = { ...nowhere, memoryBytesMax: undefined, clock, random, log };
  const stores = await openDataStores(options);
  try {
    const { store } = stores;
    await ensureAccounts(store, given.accounts, random);
    const accounts = withStored(given.accounts, new StoredAccounts(store, log));
    const problems = await createInitAccounts({ store, random, accounts }, parsed.accounts);
    if (problems.length > 0) return problems;
    const call = callsTo(given.servicesOf(stores, accounts));
    return (await runSteps(call, parsed.steps)).problems;
  } finally {
    await stores.close();
  }
}

/** The settings of an account as if they were configured. Requests compare the revision of stored
 *  settings with that in the store, and the empty store has no revision. */
function configured(settings: AccountSettings | undefined): AccountSettings | undefined {
  return settings && { ...settings, settingsRevision: undefined };
}

/** The accounts that the server serves, and those in `stored`. */
function withStored(served: Accounts, stored: StoredAccounts): Accounts {
  return {
    get: (name) => configured(served.get(name)) ?? stored.settings.get(name),
    names: () => [...served.names(), ...stored.settings.keys()],
    refresh: () => stored.refresh(),
  };
}

interface StepResults {
  readonly count: number;
  readonly problems: readonly string[];
}

const problemsMax = 20;

/** Runs the steps in order, because later ones need earlier ones. */
async function runSteps(call: CallService, steps: readonly InitStep[]): Promise<StepResults> {
  const problems: string[] = [];
  const refused: string[] = [];
  let count = 0;
  for (const step of steps) {
    // What is inside a refused container or share would be refused for the same reason.
    if (refused.some((field) => step.field.startsWith(`${field}.`))) continue;
    const result = await runStep(call, step);
    if (result === "created") count += 1;
    else if (result !== "kept") {
      refused.push(step.field);
      problems.push(`${step.field}: ${result.code || result.status} ${result.message}`);
    }
    if (problems.length >= problemsMax) break;
  }
  return { count, problems };
}

async function runStep(
  call: CallService,
  { service, account, probe, create, complete = [] }: InitStep,
): Promise<"created" | "kept" | ServiceReply> {
  if (probe !== undefined && isSuccess(await call(service, account, probe))) return "kept";
  const reply = await call(service, account, create);
  if (reply.status === 409 && reply.code.endsWith("AlreadyExists")) return "kept";
  if (!isSuccess(reply)) return reply;
  for (const request of complete) {
    const completed = await call(service, account, request);
    if (!isSuccess(completed)) return completed;
  }
  return "created";
}

function isSuccess({ status }: ServiceReply): boolean {
  return status < 300;
}

/** Sends a request to a service of this process. */
type CallService = (
  service: ServiceName,
  account: string,
  request: InitRequest,
) => Promise<ServiceReply>;

function callsTo(services: ReadonlyMap<ServiceName, HttpService>): CallService {
  return (service, account, request) =>
    sendCall(services.get(service) as HttpService, { account, ...request });
}

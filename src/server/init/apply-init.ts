import { openDataStores } from "../data-stores.ts";
import type { DataStores } from "../data-stores.ts";
import { ensureAccounts } from "../ensure-accounts.ts";
import type { RunningServerOptions } from "../running-server.ts";
import { services } from "../services.ts";
import { StartRefused } from "../start-refused.ts";
import { inProcessServices, type CallService, type InitResponse } from "./in-process-services.ts";
import type { InitStep } from "./init-step.ts";
import { nameOf, parseInit } from "./parse-init.ts";

/**
 * Creates what `init` describes and does not exist yet, through the operations of the services.
 * All requests are first sent to services on an empty store in memory: what they reject there is
 * refused before the server's own data is changed.
 */
export async function applyInit(
  given: RunningServerOptions,
  engines: DataStores,
  init: RunningServerOptions["options"]["init"],
): Promise<void> {
  // Of several workers one is enough.
  if (init === undefined || given.worker?.isMain === false) return;
  const steps = parseInit(init, given.accounts);
  const refuse = (problems: readonly string[]): void => {
    if (problems.length === 0) return;
    throw new StartRefused(problems.map((problem) => `${nameOf(init)}: ${problem}`));
  };
  refuse(await rehearse(given, steps));
  const created = await runSteps(inProcessServices(given, engines), steps);
  refuse(created.problems);
  given.log.info({ created: created.count, described: steps.length }, "initial resources created");
}

/** Runs the steps on an empty store and returns their problems. */
async function rehearse(
  given: RunningServerOptions,
  steps: readonly InitStep[],
): Promise<readonly string[]> {
  const { clock, random, log, accounts } = given;
  const nowhere = { location: undefined, storeUrl: undefined, contentUrl: undefined };
  const options = { ...nowhere, memoryBytesMax: undefined, services, clock, random, log };
  const engines = await openDataStores(options);
  try {
    await ensureAccounts(engines.store, accounts, random);
    return (await runSteps(inProcessServices(given, engines), steps)).problems;
  } finally {
    await engines.close();
  }
}

interface StepResults {
  readonly count: number;
  readonly problems: readonly string[];
}

const problemsMax = 20;

/** Runs the steps in order, because later ones need earlier ones. */
async function runSteps(call: CallService, steps: readonly InitStep[]): Promise<StepResults> {
  const problems: string[] = [];
  let count = 0;
  for (const step of steps) {
    const result = await runStep(call, step);
    if (result === "created") count += 1;
    else if (result !== "kept") problems.push(`${step.field}: ${result.code} ${result.message}`);
    if (problems.length >= problemsMax) break;
  }
  return { count, problems };
}

async function runStep(
  call: CallService,
  { service, account, probe, create, complete = [] }: InitStep,
): Promise<"created" | "kept" | InitResponse> {
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

function isSuccess({ status }: InitResponse): boolean {
  return status < 300;
}

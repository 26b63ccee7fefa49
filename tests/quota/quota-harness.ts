import { expect } from "vitest";
import { accounts } from "../../src/account/account-record.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import { Records } from "../../src/operation/records.ts";
import { accountUsage } from "../../src/operation/quotas.ts";
import { countAccount } from "../../src/data/usage-counts.ts";
import { decodeCounter } from "../../src/store/store.ts";
import type { SimResponse, SimService } from "../harness/sim-service.ts";

/** The bytes of the development account: its counter, and what is stored. */
export interface Usage {
  readonly counter: number;
  readonly counted: number;
}

export function usageOf({ store, runtime }: SimService): Promise<Usage> {
  return store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const id = (await records.get(accounts, developmentAccountName))?.id ?? 0n;
    const counter = Number(decodeCounter(await view.get(accountUsage.key(id))));
    return { counter, counted: await countAccount(records, id) };
  });
}

/** Runs the steps, and compares the counter with what is stored after each of them. */
export async function runSteps(
  sim: SimService,
  steps: Readonly<Record<string, () => Promise<SimResponse>>>,
): Promise<Usage> {
  for (const [name, step] of Object.entries(steps)) {
    const { status, body } = await step();
    expect(status, `${name}: ${body}`).toBeLessThan(300);
    const { counter, counted } = await usageOf(sim);
    expect(counter, name).toBe(counted);
  }
  return usageOf(sim);
}

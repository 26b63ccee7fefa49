import { checkRegisters, type RegisterInput, type RegisterOutput } from "../registers.ts";
import type { ServiceName } from "../wire.ts";
import { isFine, type Setting, type Workload } from "../workload.ts";

/** How a kind of stored object implements a register. */
export interface RegisterAccess {
  readonly name: string;
  readonly service: ServiceName;
  setUp(setting: Setting): Promise<void>;
  perform(setting: Setting, key: string, input: RegisterInput): Promise<RegisterOutput>;
}

const keysPerEpoch = 3;

export function registerWorkload(access: RegisterAccess): Workload {
  const { name, service } = access;
  const perform = (setting: Setting, key: string, input: RegisterInput) =>
    setting.recorder.record({ workload: name, key, input }, () =>
      access.perform(setting, key, input),
    );
  return {
    name,
    service,
    setUp: (setting) => access.setUp(setting),
    check: checkRegisters,
    client(setting) {
      /** The ETags this client saw last; the workload tests stale ones. */
      const etags = new Map<string, string>();
      return async () => {
        const key = `r${setting.epoch()}-${setting.random.below(keysPerEpoch)}`;
        const output = await perform(setting, key, choose(setting, etags.get(key)));
        if (output?.etag !== undefined && isFine(output.status)) etags.set(key, output.etag);
      };
    },
    async finish(setting, keys) {
      for (const key of keys) await perform(setting, key, { action: "read" });
    },
  };
}

function choose({ random, unique }: Setting, etag: string | undefined): RegisterInput {
  const die = random.below(100);
  if (etag === undefined)
    return die < 60 ? { action: "read" } : { action: "create", value: unique() };
  if (die < 40) return { action: "read" };
  if (die < 75) return { action: "swap", value: unique(), etag };
  if (die < 85) return { action: "write", value: unique() };
  if (die < 93) return { action: "create", value: unique() };
  return die < 97 ? { action: "removeMatch", etag } : { action: "remove" };
}

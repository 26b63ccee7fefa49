import { byKey, type Operation } from "./history.ts";
import { checkLinearizable, type Model } from "./linearizability.ts";
import { explain } from "./explain.ts";

/** One value per key, which every write replaces by a unique value. */
export type RegisterInput =
  | { readonly action: "read" }
  | { readonly action: "write"; readonly value: string }
  /** Only if the key is absent. */
  | { readonly action: "create"; readonly value: string }
  /** Only with this ETag. */
  | { readonly action: "swap"; readonly value: string; readonly etag: string }
  | { readonly action: "remove" }
  | { readonly action: "removeMatch"; readonly etag: string };

export interface RegisterOutput {
  readonly status: number;
  /** The result of a read. */
  readonly value?: string;
  readonly etag?: string;
}

type RegisterOperation = Operation<RegisterInput, RegisterOutput>;

const absent = "";

/** Sections 1 and 2: strong consistency, atomicity, and If-Match evaluated in the commit. */
export function checkRegisters(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly RegisterOperation[])].flatMap(([key, all]) => {
    const { valueOf, problems } = namesOf(all);
    const verdict = checkLinearizable(registerModel(valueOf), boundBySight(all));
    return [...problems, ...explain(verdict)].map((problem) => `${key}: ${problem}`);
  });
}

/** The value of each ETag. An ETag of two values would let a stale writer succeed. */
function namesOf(operations: readonly RegisterOperation[]) {
  const valueOf = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, input, output } of operations) {
    if (output?.etag === undefined || output.status >= 300) continue;
    const value = input.action === "read" ? output.value : "value" in input ? input.value : "";
    if (value === undefined || value === "") continue;
    const known = valueOf.get(output.etag);
    if (known !== undefined && known !== value) {
      problems.push(`${id}: the ETag ${output.etag} stands for ${known} and for ${value}`);
    }
    valueOf.set(output.etag, value);
  }
  return { valueOf, problems };
}

/** A write without a response whose value was read happened before that read returned. */
function boundBySight(operations: readonly RegisterOperation[]): readonly RegisterOperation[] {
  const seenAt = new Map<string, number>();
  for (const { input, output, returned } of operations) {
    if (input.action !== "read" || output?.value === undefined) continue;
    seenAt.set(output.value, Math.min(seenAt.get(output.value) ?? Infinity, returned));
  }
  return operations.flatMap((operation) => {
    const { input, output, returned } = operation;
    if (output !== undefined) return [operation];
    if (input.action === "read") return [];
    const seen = "value" in input ? seenAt.get(input.value) : undefined;
    return [seen === undefined ? operation : { ...operation, returned: Math.min(returned, seen) }];
  });
}

function registerModel(valueOf: ReadonlyMap<string, string>): Model<RegisterInput, RegisterOutput> {
  return {
    initial: absent,
    step(state, input, output) {
      if (input.action === "read") {
        return output === undefined || (output.value ?? absent) === state ? state : undefined;
      }
      const next = "value" in input ? input.value : absent;
      const isMet = conditionHolds(state, input, valueOf);
      if (output === undefined) return isMet ? next : state;
      if (output.status < 300) return isMet ? next : undefined;
      // Busy or unavailable: nothing happened, and the state is unknown.
      if (output.status >= 500 || input.action === "write") return state;
      return isMet ? undefined : state;
    },
  };
}

function conditionHolds(
  state: string,
  input: Exclude<RegisterInput, { action: "read" }>,
  valueOf: ReadonlyMap<string, string>,
): boolean {
  switch (input.action) {
    case "write":
      return true;
    case "create":
      return state === absent;
    case "remove":
      return state !== absent;
    case "swap":
    case "removeMatch":
      return state !== absent && state === valueOf.get(input.etag);
  }
}

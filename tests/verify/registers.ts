import { byKey, type Operation } from "./history.ts";
import { checkLinearizable, type Model } from "./linearizability.ts";
import { explain } from "./explain.ts";

/** One value under one name, which every write replaces by a value never used before. */
export type RegisterInput =
  | { readonly action: "read" }
  | { readonly action: "write"; readonly value: string }
  /** Only if nothing is there. */
  | { readonly action: "create"; readonly value: string }
  /** Only if the ETag is still this one. */
  | { readonly action: "swap"; readonly value: string; readonly etag: string }
  | { readonly action: "remove" }
  | { readonly action: "removeMatch"; readonly etag: string };

export interface RegisterOutput {
  readonly status: number;
  /** What a read found. */
  readonly value?: string;
  readonly etag?: string;
}

type RegisterOperation = Operation<RegisterInput, RegisterOutput>;

const absent = "";

/** Sections 1 and 2: strong, atomic, and If-Match compared inside the commit. */
export function checkRegisters(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly RegisterOperation[])].flatMap(([key, all]) => {
    const { valueOf, problems } = namesOf(all);
    const verdict = checkLinearizable(registerModel(valueOf), boundBySight(all));
    return [...problems, ...explain(verdict)].map((problem) => `${key}: ${problem}`);
  });
}

/** Which value an ETag stands for. One that stands for two would let a stale writer win. */
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

/** A write without an answer, whose value was read, happened before that read returned. */
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
      // Busy, or out of order: then nothing happened, and that says nothing about the state.
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

import { byKey, type Operation } from "../../verify/history.ts";
import { isFine } from "../../verify/workload.ts";

/** A blob that copies and puts replace. Each write has a value of its own. */
export type TransferInput =
  | { readonly action: "put"; readonly value: string }
  /** Copy Blob, or Put Blob From URL. */
  | { readonly action: "copy" | "put from URL"; readonly value: string; readonly from: SourcePlace }
  | { readonly action: "abort"; readonly value: string }
  | { readonly action: "remove" }
  /** The last one comes when everything works and all copies have had time to end. */
  | { readonly action: "read"; readonly isLast?: boolean };

/** Where the source of a copy is. */
export type SourcePlace =
  /** Behind a host name of its own, so that it is read over the network. */
  | "another server"
  | "another account"
  /** The file service of the same server. */
  | "another service";

export interface TransferOutput {
  readonly status: number;
  /** Of a read: the write whose result is there, and the state of its copy. */
  readonly value?: string;
  readonly state?: "success" | "pending" | "aborted" | "failed";
  /** Of a read: whether it has exactly the bytes of that write in this state. */
  readonly isIntact?: boolean;
}

type TransferOperation = Operation<TransferInput, TransferOutput>;

/** A copy has exactly the bytes of its source or none, ends once and in the end, and its end does
 *  not bring back what was replaced. */
export function checkTransfers(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly TransferOperation[])].flatMap(([key, all]) =>
    [...all.flatMap(tornRead), ...changedEnds(all), ...staleReads(all)].map(
      (problem) => `${key}: ${problem}`,
    ),
  );
}

function tornRead({ id, input, output }: TransferOperation): readonly string[] {
  const { value, state, isIntact } = output ?? {};
  if (isIntact === false) return [`${id}: the bytes of ${value} (${state}) are wrong`];
  const isLast = input.action === "read" && input.isLast === true;
  return isLast && state === "pending" ? [`${id}: the copy of ${value} does not end`] : [];
}

/** The end of a copy is final, and an aborted copy does not succeed. */
function changedEnds(operations: readonly TransferOperation[]): readonly string[] {
  const problems: string[] = [];
  const ends = operations.flatMap(({ id, input, output, called, returned }) => {
    const isAbort = input.action === "abort" && isFine(output?.status ?? 999);
    if (isAbort) return [{ id, value: input.value, state: "aborted", called, returned }];
    const { value, state } = output ?? {};
    return value === undefined || state === undefined
      ? []
      : [{ id, value, state, called, returned }];
  });
  for (const earlier of ends) {
    if (earlier.state === "pending") continue;
    for (const later of ends) {
      const isLater = later.value === earlier.value && later.called > earlier.returned;
      if (!isLater || later.state === earlier.state) continue;
      problems.push(
        `${later.id}: the copy of ${later.value} was ${earlier.state}, is ${later.state}`,
      );
    }
  }
  return problems;
}

/** A read shows no write that another one had replaced before the read began, nor one that came
 *  later. */
function staleReads(operations: readonly TransferOperation[]): readonly string[] {
  const writes = operations.filter(
    ({ input, output }) => input.action !== "read" && input.action !== "abort" && mayHave(output),
  );
  const valueOf = ({ input }: TransferOperation): string => ("value" in input ? input.value : "");
  return operations.flatMap(({ id, input, output, called, returned }) => {
    const isFound = output?.value !== undefined;
    if (input.action !== "read" || output === undefined) return [];
    if (!isFound && output.status !== 404) return [];
    const sources = isFound ? writes.filter((write) => valueOf(write) === output.value) : [];
    if (isFound && !sources.some((write) => write.called < returned)) {
      return [`${id}: ${output.value} was never written`];
    }
    const isReplaced = (end: number): boolean =>
      writes.some(
        (write) =>
          isFine(write.output?.status ?? 999) && write.called > end && write.returned < called,
      );
    const removals = writes.filter((write) => write.input.action === "remove");
    const ends = isFound ? sources : removals;
    // Without a blob, either nothing was written or the last change is a removal.
    const isInitial = !isFound && !isReplacedSince(writes, called);
    if (isInitial || ends.some((write) => write.called < returned && !isReplaced(write.returned))) {
      return [];
    }
    return [`${id}: ${output.value ?? "the absence"} was replaced before`];
  });
}

/** Whether a write with a value has succeeded before this time. */
function isReplacedSince(writes: readonly TransferOperation[], time: number): boolean {
  return writes.some(
    ({ input, output, returned }) =>
      "value" in input && isFine(output?.status ?? 999) && returned < time,
  );
}

/** Without a response, or after a status from 500 on, a write may have happened. */
function mayHave(output: TransferOutput | undefined): boolean {
  return output === undefined || isFine(output.status) || output.status >= 500;
}

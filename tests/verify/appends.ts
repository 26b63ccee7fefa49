import { byKey, type Operation } from "./history.ts";

/** Records of any length appended to one blob; each ends with a bar and is unique. */
export type AppendInput =
  | { readonly action: "append"; readonly record: string; readonly position?: number }
  | { readonly action: "read" };

export interface AppendOutput {
  readonly status: number;
  readonly offset?: number;
  readonly text?: string;
}

type AppendOperation = Operation<AppendInput, AppendOutput>;

interface Appended {
  readonly id: string;
  readonly record: string;
  readonly offset: number;
  readonly called: number;
  readonly returned: number;
}

/**
 * Checks that the blob consists of whole records, each acknowledged one exactly once, at the offset
 * of its response, in an order that agrees with real time.
 */
export function checkAppends(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly AppendOperation[])].flatMap(([key, all]) => {
    const reads = all.filter(({ output }) => output?.text !== undefined);
    const appended = all.flatMap(appendedOf);
    const text = reads
      .map(({ output }) => output?.text ?? "")
      .reduce((longest, one) => (one.length > longest.length ? one : longest), "");
    const problems = [
      ...strangers(text, all),
      ...misplaced(text, appended),
      ...disorder(appended),
      ...reads.flatMap((read) => shortReads(read, text, appended)),
    ];
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

function appendedOf({ id, input, output, called, returned }: AppendOperation): readonly Appended[] {
  if (input.action !== "append" || output?.offset === undefined || output.status >= 300) return [];
  return [{ id, record: input.record, offset: output.offset, called, returned }];
}

/** Parts of the text that were never appended, were rejected, or appear twice. */
function strangers(text: string, operations: readonly AppendOperation[]): readonly string[] {
  const possible = new Map<string, boolean>();
  for (const { input, output } of operations) {
    if (input.action === "append") possible.set(input.record, (output?.status ?? 200) < 300);
  }
  const seen = new Set<string>();
  return text.split(/(?<=\|)/).flatMap((record) => {
    if (record === "") return [];
    if (seen.has(record)) return [`${record} is there twice`];
    seen.add(record);
    const mayBe = possible.get(record);
    if (mayBe === undefined) return [`${record} is torn, or was never appended`];
    return mayBe ? [] : [`${record} was refused, but is there`];
  });
}

function misplaced(text: string, appended: readonly Appended[]): readonly string[] {
  return appended.flatMap(({ id, record, offset }) =>
    text.startsWith(record, offset) ? [] : [`${id}: ${record} is not at ${offset}`],
  );
}

function disorder(appended: readonly Appended[]): readonly string[] {
  const byOffset = appended.toSorted((one, other) => one.offset - other.offset);
  let earliestReturn: Appended | undefined;
  const problems: string[] = [];
  for (const one of byOffset.toReversed()) {
    if (earliestReturn !== undefined && earliestReturn.returned < one.called) {
      problems.push(`${one.record} came after ${earliestReturn.record}, but stands before it`);
    }
    if (earliestReturn === undefined || one.returned < earliestReturn.returned) {
      earliestReturn = one;
    }
  }
  return problems;
}

/** A read returns a prefix of every later read, and all records acknowledged before it. */
function shortReads(
  { id, output, called }: AppendOperation,
  text: string,
  appended: readonly Appended[],
): readonly string[] {
  const seen = output?.text ?? "";
  if (!text.startsWith(seen)) return [`${id} read what is no beginning of the whole`];
  const missing = appended.find(
    ({ record, offset, returned }) => returned < called && offset + record.length > seen.length,
  );
  return missing === undefined ? [] : [`${id} missed ${missing.record}, acknowledged before it`];
}

import { byKey, type Operation } from "./history.ts";

/** Messages with unique texts. */
export type QueueInput =
  | { readonly action: "put"; readonly text: string }
  | { readonly action: "get"; readonly seconds: number }
  | {
      readonly action: "hide";
      readonly text: string;
      readonly receipt: string;
      readonly seconds: number;
    }
  | { readonly action: "delete"; readonly text: string; readonly receipt: string };

export interface QueueOutput {
  readonly status: number;
  readonly messages?: readonly { readonly text: string; readonly receipt: string }[];
  /** The new pop receipt after an update. */
  readonly receipt?: string;
}

type QueueOperation = Operation<QueueInput, QueueOutput>;

interface Delivery {
  readonly text: string;
  readonly receipt: string;
  readonly called: number;
  readonly returned: number;
  readonly visibleAfter: number;
  /** An update: the pop receipt with which its consumer began this timeout. */
  readonly renews?: string;
}

const microsecondsPerSecond = 1_000_000;
const roundingMicroseconds = 20_000;

/**
 * Section 5: never lost, never two consumers within one visibility timeout, only the latest receipt
 * is valid.
 */
export function checkDeliveries(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly QueueOperation[])].flatMap(([key, all]) => {
    const deliveries = groupByText(deliveriesIn(all));
    const uses = groupByText(usesIn(all));
    const problems = [...lost(all, deliveries), ...strangers(all, deliveries)];
    for (const [text, windows] of deliveries) {
      const used = uses.get(text) ?? [];
      problems.push(...early(windows), ...repeated(windows), ...stale(used, windows));
      problems.push(...undone(used, windows));
    }
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

function deliveriesIn(operations: readonly QueueOperation[]): readonly Delivery[] {
  return operations.flatMap(({ input, output, called, returned }) => {
    if (output === undefined || output.status >= 300) return [];
    if (input.action !== "get" && input.action !== "hide") return [];
    const window = { called, returned, visibleAfter: input.seconds * microsecondsPerSecond };
    if (input.action === "get") {
      return (output.messages ?? []).map((message) => ({ ...message, ...window }));
    }
    const { receipt = "" } = output;
    return [{ text: input.text, receipt, ...window, renews: input.receipt }];
  });
}

interface Use {
  readonly id: string;
  readonly action: "hide" | "delete";
  readonly text: string;
  readonly receipt: string;
  readonly called: number;
  readonly returned: number;
}

/** Accepted operations on messages. */
function usesIn(operations: readonly QueueOperation[]): readonly Use[] {
  return operations.flatMap(({ id, input, output, called, returned }) => {
    if (input.action !== "delete" && input.action !== "hide") return [];
    if (output === undefined || output.status >= 300) return [];
    const { action, text, receipt } = input;
    return [{ id, action, text, receipt, called, returned }];
  });
}

function groupByText<T extends { readonly text: string }>(
  all: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  return byKey(all.map((one) => ({ ...one, key: one.text })));
}

type ByText = ReadonlyMap<string, readonly Delivery[]>;

function lost(operations: readonly QueueOperation[], deliveries: ByText): readonly string[] {
  const mayBeDeleted = new Set(
    operations.flatMap(({ input }) => (input.action === "delete" ? [input.text] : [])),
  );
  return operations.flatMap(({ input, output }) => {
    if (input.action !== "put" || output?.status !== 201) return [];
    const isSeen = deliveries.has(input.text) || mayBeDeleted.has(input.text);
    return isSeen ? [] : [`${input.text} was put and never delivered`];
  });
}

function strangers(operations: readonly QueueOperation[], deliveries: ByText): readonly string[] {
  const put = new Set(
    operations.flatMap(({ input, output }) =>
      input.action === "put" && (output?.status ?? 201) < 300 ? [input.text] : [],
    ),
  );
  return [...deliveries.keys()].flatMap((text) =>
    put.has(text) ? [] : [`${text} was delivered, but never put`],
  );
}

/** Two timeouts that overlap for every possible order of their decisions. */
function early(windows: readonly Delivery[]): readonly string[] {
  const gets = windows.filter(({ renews }) => renews === undefined);
  return gets.flatMap((one, index) => {
    const others = gets.slice(index + 1);
    const double = others.some((other) => !mayFollow(one, other) && !mayFollow(other, one));
    const hides = windows.filter(({ renews }) => renews === one.receipt);
    const during = gets.some(
      (other) =>
        other !== one && hides.some((hide) => !mayFollow(other, one) && !mayFollow(hide, other)),
    );
    return double || during ? [`${one.text} was delivered again before its time`] : [];
  });
}

function mayFollow(first: Delivery, second: Delivery): boolean {
  return second.returned >= first.called + first.visibleAfter - roundingMicroseconds;
}

function repeated(windows: readonly Delivery[]): readonly string[] {
  const receipts = new Set(windows.map(({ receipt }) => receipt));
  const text = windows[0]?.text ?? "";
  return receipts.size === windows.length ? [] : [`${text} came twice with the same receipt`];
}

/** Accepted although a newer receipt was issued before the call. */
function stale(uses: readonly Use[], windows: readonly Delivery[]): readonly string[] {
  return uses.flatMap(({ id, action, text, receipt, called }) => {
    const own = windows.find((window) => window.receipt === receipt);
    const isRenewed = windows.some(
      (other) => own !== undefined && other.called > own.returned && other.returned < called,
    );
    return isRenewed ? [`${id}: ${action} of ${text} with a receipt that was renewed`] : [];
  });
}

function undone(uses: readonly Use[], windows: readonly Delivery[]): readonly string[] {
  const deleted = uses.filter(({ action }) => action === "delete");
  const deletedAt = Math.min(...deleted.map(({ returned }) => returned));
  const text = windows[0]?.text ?? "";
  const twice = deleted.length > 1 ? [`${text} was deleted ${deleted.length} times`] : [];
  const after = windows.filter(({ called }) => called > deletedAt);
  return [...twice, ...after.map(() => `${text} was delivered after it was deleted`)];
}

/**
 * Events of the clients of one queue, in the order in which they happened. Times are milliseconds
 * of the clients' clock: when a request was sent and when its response arrived.
 */
export type QueueEvent =
  | { readonly kind: "put"; readonly text: string; readonly isAnswered: boolean }
  | {
      readonly kind: "delivery";
      readonly text: string;
      readonly sent: number;
      readonly answered: number;
      readonly visibilityMilliseconds: number;
    }
  | {
      /** An update that hides for this long; without a response it may not have been executed. */
      readonly kind: "hide";
      readonly text: string;
      readonly sent: number;
      readonly visibilityMilliseconds: number;
      readonly isAnswered: boolean;
    }
  | {
      readonly kind: "delete";
      readonly text: string;
      readonly answered: number;
      readonly isAnswered: boolean;
    };

interface Known {
  isPut: boolean;
  deliveries: number;
  /** The message must not be delivered before; undefined if unknown. */
  hiddenUntil: number | undefined;
  deletedAt: number | undefined;
  mayBeDeleted: boolean;
}

/** Client and server share a clock but round differently. */
const toleranceMilliseconds = 20;

/** All violations of section 5 of the contract; empty if there are none. */
export function brokenPromises(events: readonly QueueEvent[]): readonly string[] {
  const messages = new Map<string, Known>();
  const problems: string[] = [];
  for (const event of events) {
    const known = messages.get(event.text);
    if (event.kind === "put") {
      messages.set(event.text, {
        isPut: event.isAnswered,
        deliveries: 0,
        hiddenUntil: undefined,
        deletedAt: undefined,
        mayBeDeleted: false,
      });
    } else if (known === undefined) {
      problems.push(`${event.text} appeared, but was never put`);
    } else if (event.kind === "delivery") {
      problems.push(...checkDelivery(event, known));
      known.deliveries += 1;
      known.hiddenUntil = event.sent + event.visibilityMilliseconds;
    } else if (event.kind === "hide") {
      const until = event.sent + event.visibilityMilliseconds;
      known.hiddenUntil = event.isAnswered ? until : undefined;
    } else {
      known.mayBeDeleted = true;
      if (event.isAnswered) known.deletedAt ??= event.answered;
    }
  }
  for (const [text, known] of messages) {
    const isLost = known.isPut && known.deliveries === 0 && !known.mayBeDeleted;
    if (isLost) problems.push(`${text} was put and never delivered`);
  }
  return problems;
}

function checkDelivery(
  event: Extract<QueueEvent, { kind: "delivery" }>,
  { hiddenUntil, deletedAt }: Known,
): readonly string[] {
  const problems: string[] = [];
  if (hiddenUntil !== undefined && event.answered < hiddenUntil - toleranceMilliseconds) {
    const early = Math.round(hiddenUntil - event.answered);
    problems.push(`${event.text} was delivered again ${early} ms before its time`);
  }
  if (deletedAt !== undefined && event.sent > deletedAt) {
    problems.push(`${event.text} was delivered after it was deleted`);
  }
  return problems;
}

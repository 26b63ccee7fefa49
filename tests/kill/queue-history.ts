/** What clients of one queue saw, in the order they saw it. Times are the clients' own, in
 *  milliseconds: when a request was sent, and when its answer was there. */
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
      /** An update that hides for so long from now; without an answer it may not have happened. */
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
  /** Nobody else may get it before; undefined if that cannot be told. */
  hiddenUntil: number | undefined;
  deletedAt: number | undefined;
  mayBeDeleted: boolean;
}

/** Clocks of client and server are one, but differently rounded. */
const toleranceMilliseconds = 20;

/** Every way in which the history breaks the promise of section 5; none if it holds. */
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
      problems.push(`${event.text} appeared, but nobody put it`);
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

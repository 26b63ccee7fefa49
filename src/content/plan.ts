import type {
  ContentEdit,
  ContentPart,
  ContentPlan,
  ContentRef,
  ReceivedBody,
} from "./content-ref.ts";

/** Makes a body the whole content. Plans are plain values, so that decisions stay pure;
 *  `ContentStore.applyPlan` applies them. */
export function whole(received: ReceivedBody): ContentPlan {
  return compose([asPart(received)]);
}

/** Makes the content of another record, without copying bytes. */
export function share(ref: ContentRef): ContentPlan {
  return { plan: "share", ref };
}

/** Makes the parts, one after the other, the whole content: Put Block List. */
export function compose(parts: readonly ContentPart[]): ContentPlan {
  return { plan: "compose", parts };
}

/** Changes ranges of existing content, in the given order. */
export function edit(base: ContentRef, ...edits: readonly ContentEdit[]): ContentPlan {
  return { plan: "edit", base, edits };
}

/** A write beyond the end extends the content. */
export function write(base: ContentRef, at: number, received: ReceivedBody): ContentPlan {
  return edit(base, { edit: "write", at, part: asPart(received) });
}

/** Adds a body at the end of the content. */
export function append(base: ContentRef, received: ReceivedBody, block?: string): ContentPlan {
  return edit(base, { edit: "write", at: base.length, part: asPart(received, block) });
}

export function clear(base: ContentRef, range: { at: number; length: number }): ContentPlan {
  return edit(base, { edit: "clear", ...range });
}

export function resize(base: ContentRef, length: number): ContentPlan {
  return edit(base, { edit: "resize", length });
}

/** Content of a given length without data, which reads as zeros: a new page blob or file. */
export function empty(length: number): ContentPlan {
  return edit(noSlices, { edit: "resize", length });
}

const noSlices: ContentRef = { kind: "slices", length: 0, slices: [] };

/** Content of a given length that starts with a body and reads as zeros after it. */
export function startingWith(received: ReceivedBody, length: number): ContentPlan {
  if (received.length === 0) return empty(length);
  const start = { edit: "write" as const, at: 0, part: asPart(received) };
  return edit(noSlices, start, { edit: "resize", length });
}

/** A received body as part of new content; `block` is the id of a committed block. */
export function asPart(received: ReceivedBody, block?: string): ContentPart {
  return block === undefined ? { pieces: received.pieces } : { pieces: received.pieces, block };
}

/** The length of the content that a plan makes. */
export function plannedLength(plan: ContentPlan): number {
  switch (plan.plan) {
    case "share":
      return plan.ref.length;
    case "compose":
      return plan.parts.reduce((sum, part) => sum + partLength(part), 0);
    case "edit":
      return plan.edits.reduce(editedLength, plan.base.length);
    default:
      return plan satisfies never;
  }
}

function editedLength(length: number, change: ContentEdit): number {
  if (change.edit === "resize") return change.length;
  return change.edit === "clear" ? length : Math.max(length, change.at + partLength(change.part));
}

export function partLength(part: ContentPart): number {
  let length = 0;
  for (const piece of part.pieces) length += piece.length;
  return length;
}

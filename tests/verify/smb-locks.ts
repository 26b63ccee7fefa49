import { explain } from "./explain.ts";
import { byKey, type Operation } from "./history.ts";
import { checkLinearizable, type Model } from "./linearizability.ts";

/** A file that SMB clients open exclusively or lock, while others read and write it over REST. */
export type SmbLockInput =
  /** Over SMB: an exclusive open, or a byte-range lock, under a unique name. */
  | { readonly action: "take"; readonly handle: string }
  | { readonly action: "leave"; readonly handle: string }
  | { readonly action: "mark"; readonly handle: string; readonly isPending: boolean }
  | { readonly action: "put"; readonly handle: string; readonly value: string }
  /** Over REST. */
  | { readonly action: "create" }
  | { readonly action: "write"; readonly value: string }
  | { readonly action: "read" };

export interface SmbLockOutput {
  readonly status: number;
  /** The reason for a rejection. */
  readonly code?: string;
  readonly value?: string;
}

type SmbLockOperation = Operation<SmbLockInput, SmbLockOutput>;

/** A killed client recorded no release: the server released its handles some time later. */
function departures(operations: readonly SmbLockOperation[]): readonly SmbLockOperation[] {
  const left = new Map<string, SmbLockOperation>();
  for (const operation of operations) {
    const { id, input, called, returned, output } = operation;
    if (!("handle" in input) || (output?.status ?? 200) >= 300) continue;
    const isOver = input.action === "leave";
    const since = returned === Infinity ? called : returned;
    if (isOver) left.delete(input.handle);
    else if (input.action === "take" || left.has(input.handle)) {
      const leaving: SmbLockInput = { action: "leave", handle: input.handle };
      const unknown = { output: undefined, called: since, returned: Infinity };
      left.set(input.handle, { ...operation, id: `${id}-end`, input: leaving, ...unknown });
    }
  }
  return [...left.values()];
}

interface FileState {
  readonly exists: boolean;
  /** Empty: no client has it. */
  readonly holder: string;
  /** Deleted when its holder closes it. */
  readonly isMarked: boolean;
  readonly value: string;
}

/** Key prefix of files that are locked instead of opened exclusively. */
export const rangeLocked = "k";

/**
 * No client gets access to a file that another has, over REST or SMB; a delete-pending file is
 * neither accessible nor absent until its holder closes it.
 */
export function checkSmbLocks(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly SmbLockOperation[])].flatMap(([key, all]) => {
    const model = key.startsWith(rangeLocked) ? rangeModel : openModel;
    const completed = all.filter(
      ({ input, output }) => output !== undefined || input.action !== "read",
    );
    const known = [...completed, ...departures(completed)];
    return explain(checkLinearizable(model, known)).map((problem) => `${key}: ${problem}`);
  });
}

const nothing: FileState = { exists: false, holder: "", isMarked: false, value: "" };
const openModel = modelOf("SharingViolation");
const rangeModel = modelOf("FileLockConflict");

function modelOf(conflict: string): Model<SmbLockInput, SmbLockOutput> {
  return {
    initial: JSON.stringify(nothing),
    step(text, input, output) {
      const state = JSON.parse(text) as FileState;
      const next = afterDone(state, input);
      const done = next === undefined ? undefined : JSON.stringify(next);
      if (output === undefined) return done ?? text;
      if (output.status >= 500) return text;
      if (output.status < 300) {
        const isSeen = input.action !== "read" || output.value === state.value;
        return isSeen ? done : undefined;
      }
      return mayRefuse(state, input, output, conflict) ? text : undefined;
    },
  };
}

/** Undefined if it must be rejected. */
function afterDone(state: FileState, input: SmbLockInput): FileState | undefined {
  const isFree = state.exists && state.holder === "";
  switch (input.action) {
    case "take":
      return isFree ? { ...state, holder: input.handle } : undefined;
    case "leave":
      if (state.holder !== input.handle) return state;
      return state.isMarked ? nothing : { ...state, holder: "" };
    case "mark":
      if (state.holder !== input.handle) return undefined;
      return { ...state, isMarked: input.isPending };
    case "put":
      return state.holder === input.handle ? { ...state, value: input.value } : undefined;
    case "create":
      return state.holder === "" ? { ...nothing, exists: true } : undefined;
    case "write":
      return isFree ? { ...state, value: input.value } : undefined;
    case "read":
      return isFree ? state : undefined;
  }
}

function mayRefuse(
  state: FileState,
  input: SmbLockInput,
  { code }: SmbLockOutput,
  conflict: string,
): boolean {
  if (input.action === "leave") return true;
  if (afterDone(state, input) !== undefined) return false;
  // The status over SMB is not specified here; that over REST is.
  const isRest = input.action === "create" || input.action === "write" || input.action === "read";
  if (!isRest) return true;
  if (!state.exists) return code === "ResourceNotFound";
  return code === (state.isMarked ? "DeletePending" : conflict);
}

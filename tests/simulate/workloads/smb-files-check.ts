import { explain } from "../../verify/explain.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { checkLinearizable, type Model } from "../../verify/linearizability.ts";

/** A file that SMB clients open, lock or cache, while others use it over REST. */
export type SmbFileInput =
  /** Over SMB: an open or a lock, under a unique name. */
  | { readonly action: "take"; readonly handle: string }
  /** A durable handle on a new connection. */
  | { readonly action: "resume"; readonly handle: string }
  /** A close, or the acknowledgement of a break. */
  | { readonly action: "leave"; readonly handle: string }
  | { readonly action: "put"; readonly handle: string; readonly value: string }
  /** Over REST. */
  | { readonly action: "create" }
  | { readonly action: "write"; readonly value: string }
  | { readonly action: "read"; readonly isLast?: boolean };

export interface SmbFileOutput {
  readonly status: number;
  /** The reason for a rejection. */
  readonly code?: string;
  readonly value?: string;
}

type SmbFileOperation = Operation<SmbFileInput, SmbFileOutput>;

/** What a client takes from others, by the first letter of a key. */
export const kinds = {
  /** An open that shares nothing, with a batch oplock and a durable handle. */
  alone: "o",
  /** The same with a durable handle of version 2, which also has a GUID of the client. */
  aloneGuid: "g",
  /** A lock of all bytes. */
  locked: "k",
  /** A batch oplock on a shared open: others wait until it is broken, or for its time-out. */
  cached: "c",
  /** The same with an SMB lease for reads and writes. */
  leased: "w",
  /** The same with an SMB lease that also caches the handle, which is durable. */
  leasedHandle: "h",
} as const;

/** Kinds for which others wait; the remaining ones refuse others at once. */
const waitedFor = new Set<string>([kinds.cached, kinds.leased, kinds.leasedHandle]);

interface FileState {
  readonly exists: boolean;
  /** Empty: no client has it. */
  readonly holder: string;
  readonly value: string;
}

/** No other client reads or writes a file while one has it, whatever happens to connections and
 *  servers; a durable handle that is resumed was never lost. */
export function checkSmbFiles(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly SmbFileOperation[])].flatMap(([key, all]) => {
    const model = modelOf(key);
    const completed = all.filter(
      ({ input, output }) => output !== undefined || input.action !== "read",
    );
    const known = [...completed, ...departures(completed)];
    const problems = [...explain(checkLinearizable(model, known)), ...leftHeld(all)];
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

/** At the end all SMB clients have gone, and their handles with them. */
function leftHeld(operations: readonly SmbFileOperation[]): readonly string[] {
  const isHeld = operations.some(
    ({ input, output }) =>
      input.action === "read" && input.isLast === true && output?.status === 409,
  );
  return isHeld ? ["it is still held after all clients have gone"] : [];
}

/** The server may end a handle whose client it no longer reaches, at any time after the last
 *  response to it. */
function departures(operations: readonly SmbFileOperation[]): readonly SmbFileOperation[] {
  const left = new Map<string, SmbFileOperation>();
  for (const operation of operations) {
    const { id, input, called, returned, output } = operation;
    if (!("handle" in input) || (output?.status ?? 200) >= 300) continue;
    if (input.action === "leave") {
      if (output !== undefined) left.delete(input.handle);
      continue;
    }
    if (output === undefined && input.action !== "take") continue;
    const leaving: SmbFileInput = { action: "leave", handle: input.handle };
    const since = returned === Infinity ? called : returned;
    const unknown = { output: undefined, called: since, returned: Infinity };
    left.set(input.handle, { ...operation, id: `${id}-end`, input: leaving, ...unknown });
  }
  return [...left.values()];
}

const nothing: FileState = { exists: false, holder: "", value: "" };

function modelOf(key: string): Model<SmbFileInput, SmbFileOutput> {
  const conflict = key.startsWith(kinds.locked) ? "FileLockConflict" : "SharingViolation";
  const isWaiting = waitedFor.has(key.charAt(0));
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
      // A durable handle is resumed only on its server, after that has noticed the loss.
      if (input.action === "leave" || input.action === "resume") return text;
      if (next !== undefined) return undefined;
      if (!state.exists) return output.status === 404 ? text : undefined;
      // No open is refused because of a cache: it waits.
      if (isWaiting) return undefined;
      const isRest =
        input.action === "create" || input.action === "write" || input.action === "read";
      return !isRest || output.code === conflict ? text : undefined;
    },
  };
}

/** Undefined if it must be rejected. */
function afterDone(state: FileState, input: SmbFileInput): FileState | undefined {
  const isFree = state.exists && state.holder === "";
  switch (input.action) {
    case "take":
      return isFree ? { ...state, holder: input.handle } : undefined;
    case "resume":
      return state.holder === input.handle ? state : undefined;
    case "leave":
      return state.holder === input.handle ? { ...state, holder: "" } : state;
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

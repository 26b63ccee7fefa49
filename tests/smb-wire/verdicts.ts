import { codeOf } from "./rest-and-smb.ts";
import { Status } from "../../src/smb/status.ts";
import { expect } from "vitest";

export type Verdict = "done" | "refused";

/** One operation on a file or directory, over each protocol. */
export interface Operation<Subject> {
  readonly smb: (subject: Subject) => Promise<number>;
  readonly rest: (subject: Subject) => Promise<unknown>;
  /** States in which both protocols reject it. */
  readonly refused: readonly string[];
  /** States in which REST alone rejects it, as documented for Azure Files. */
  readonly refusedByRest?: readonly string[];
  /** States that do not apply to it. */
  readonly without?: readonly string[];
}

/** Brings a new file or directory into a state and calls back while it is in it. */
export type State<Subject> = (work: (subject: Subject) => Promise<void>) => Promise<void>;

/**
 * The results of both protocols for every operation in one state, each on a new file or directory.
 */
export async function expectVerdicts<Subject>(
  operations: Readonly<Record<string, Operation<Subject>>>,
  name: string,
  state: State<Subject>,
): Promise<void> {
  const said: Record<string, string> = {};
  const expected: Record<string, string> = {};
  for (const [title, operation] of Object.entries(operations)) {
    if (operation.without?.includes(name) === true) continue;
    const { smb, rest } = await bothVerdicts(operation, state);
    said[title] = `SMB ${smb}, REST ${rest}`;
    const bySmb = refusedIn(operation.refused, name);
    const byRest = refusedIn([...operation.refused, ...(operation.refusedByRest ?? [])], name);
    expected[title] = `SMB ${bySmb}, REST ${byRest}`;
  }
  expect(said).toEqual(expected);
}

async function bothVerdicts<Subject>(
  operation: Operation<Subject>,
  state: State<Subject>,
): Promise<{ readonly smb: Verdict; readonly rest: Verdict }> {
  let smb: Verdict = "refused";
  let rest: Verdict = "refused";
  await state(async (subject) => {
    smb = (await operation.smb(subject)) === Status.success ? "done" : "refused";
  });
  await state(async (subject) => {
    rest = (await codeOf(operation.rest(subject))) === "done" ? "done" : "refused";
  });
  return { smb, rest };
}

function refusedIn(states: readonly string[], name: string): Verdict {
  return states.includes(name) ? "refused" : "done";
}

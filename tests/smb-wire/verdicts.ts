import { codeOf } from "./rest-and-smb.ts";
import { Status } from "../../src/smb/status.ts";
import { expect } from "vitest";

export type Verdict = "done" | "refused";

/** One thing to do to a file or directory, over each protocol. */
export interface Operation<Subject> {
  readonly smb: (subject: Subject) => Promise<number>;
  readonly rest: (subject: Subject) => Promise<unknown>;
  /** States in which both refuse it. */
  readonly refused: readonly string[];
  /** States in which REST alone refuses it, as the documentation of Azure Files has it. */
  readonly refusedByRest?: readonly string[];
  /** States that mean nothing to it. */
  readonly without?: readonly string[];
}

/** Brings a new subject into a state, and calls back while it is in it. */
export type State<Subject> = (work: (subject: Subject) => Promise<void>) => Promise<void>;

/** What both protocols say to every operation in one state, each on a subject of its own. */
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

import type { Exchange } from "./glass.ts";

/** One step of the tour: clients that contend for an object, with checked results. */
export interface Step {
  readonly title: string;
  readonly run: (stage: Stage) => Promise<void>;
}

export interface Stage {
  /** Connection string for the official client libraries. */
  readonly connectionString: string;
  readonly smbUrl: string;
  /** An account with a hierarchical namespace. */
  readonly lake: { readonly url: string; readonly account: string; readonly key: string };
  /** A name that no other step uses. */
  readonly name: string;
  /** Prints the explanation of what follows. */
  readonly say: (text: string) => void;
  /** Compares a result with the expected one; the step fails if they differ. */
  readonly check: (what: string, happened: unknown, promised: unknown) => void;
  /** Advances the clock of the server instead of waiting, and prints by how much. */
  readonly pass: (seconds: number) => void;
}

/** Status and error code of a rejected request; fails the check if it succeeds. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return "succeeded";
  } catch (error) {
    const { statusCode, code, details } = error as {
      statusCode?: number;
      code?: string;
      details?: { errorCode?: string; odataError?: { code?: string } };
    };
    return `${statusCode} ${details?.errorCode ?? details?.odataError?.code ?? code}`;
  }
}

export interface Printer {
  title(text: string): void;
  why(text: string): void;
  exchange(exchange: Exchange): void;
  /** The clock of the server is advanced. */
  clock(seconds: number): void;
  checked(what: string, happened: unknown): void;
}

/** Prints to a terminal, optionally in colour. */
export function terminalPrinter(write: (line: string) => void, isColoured: boolean): Printer {
  const paint = (code: number, text: string): string =>
    isColoured ? `\u001b[${code}m${text}\u001b[0m` : text;
  const pairs = (from: Readonly<Record<string, string>>): string =>
    Object.entries(from)
      .map(([name, value]) => `  ${name}: ${value}`)
      .join("");
  return {
    title: (text) => write(`\n${paint(1, text)}`),
    why: (text) => write(paint(36, `  ${text}`)),
    exchange: ({ method, path, asked, status, answered }) => {
      write(paint(90, `    → ${method} ${path}${pairs(asked)}`));
      write(paint(status < 400 ? 32 : 33, `    ← ${status}${pairs(answered)}`));
    },
    clock: (seconds) => write(paint(35, `    ↷ the server's clock is advanced by ${seconds} s`)),
    checked: (what, happened) => write(paint(32, `  ✓ ${what}: ${String(happened)}`)),
  };
}

export const silentPrinter: Printer = {
  title: () => undefined,
  why: () => undefined,
  exchange: () => undefined,
  clock: () => undefined,
  checked: () => undefined,
};

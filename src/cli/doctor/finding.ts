/** What a check of `etagere doctor` has found. */
export interface Finding {
  /** The subject, for example `port 10000`. */
  readonly subject: string;
  readonly state: "ok" | "warning" | "problem";
  readonly text: string;
  /** What the user should do; absent if there is nothing to do. */
  readonly advice?: string;
}

export function ok(subject: string, text: string): Finding {
  return { subject, state: "ok", text };
}

export function warning(subject: string, text: string, advice: string): Finding {
  return { subject, state: "warning", text, advice };
}

export function problem(subject: string, text: string, advice: string): Finding {
  return { subject, state: "problem", text, advice };
}

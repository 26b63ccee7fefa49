import type { ComponentChildren, JSX } from "preact";
import type { Failure } from "../result.ts";
import { describeFailure } from "./notices.tsx";

export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}

export function Failed({ failure }: { readonly failure: Failure }): JSX.Element {
  return (
    <div class="empty" role="alert">
      <strong>Loading failed</strong>
      <p>{describeFailure(failure)}</p>
    </div>
  );
}

export function Waiting(): JSX.Element {
  return (
    <div class="empty" aria-busy="true">
      <span class="spinner" /> Loading…
    </div>
  );
}

export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

export function Badge({
  tone = "plain",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>;
}

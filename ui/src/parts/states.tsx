import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Failure } from "../result.ts";
import { Button } from "./button.tsx";
import { describeFailure } from "./notices.tsx";

export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}

interface FailedProps {
  /** The object that was not loaded, for example `messages`. */
  readonly what: string;
  readonly failure: Failure;
  readonly onRetry: () => void;
}

const retryMilliseconds = 3000;

/** Names what was not loaded. While the server is unreachable, loading is retried by itself. */
export function Failed({ what, failure, onRetry }: FailedProps): JSX.Element {
  useEffect(() => {
    if (failure.status !== 0) return;
    const timer = setTimeout(onRetry, retryMilliseconds);
    return () => clearTimeout(timer);
  }, [failure]);
  return (
    <div class="empty" role="alert">
      <strong>Loading {what} failed</strong>
      <p>{describeFailure(failure)}</p>
      <Button icon="refresh" onClick={onRetry}>
        Retry
      </Button>
    </div>
  );
}

/** A message beside the fields that it is about; stays until they are corrected. */
export function Problem({ text }: { readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

export function Waiting({ children }: { readonly children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty" aria-busy="true">
      <span class="spinner" /> Loading…
      {children}
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

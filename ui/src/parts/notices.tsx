import type { JSX } from "preact";
import type { Failure, Result } from "../result.ts";
import { createStore, useStore } from "../store.ts";
import { Button } from "./button.tsx";

interface Notice {
  readonly id: number;
  readonly kind: "good" | "bad";
  readonly text: string;
}

const shownMax = 4;
/** A failure stays longer: it has to be read, and possibly acted on. */
const shownMilliseconds = { good: 6000, bad: 30_000 } as const;
const notices = createStore<readonly Notice[]>([]);
let lastId = 0;

export function notify(kind: Notice["kind"], text: string): void {
  lastId += 1;
  const notice = { id: lastId, kind, text };
  notices.update((before) => [...before, notice].slice(-shownMax));
  setTimeout(() => dismiss(notice.id), shownMilliseconds[kind]);
}

function dismiss(id: number): void {
  notices.update((before) => before.filter((one) => one.id !== id));
}

export function describeFailure({ code, message, status }: Failure): string {
  const number = status === 0 ? "" : ` (${status} ${code})`;
  return `${message}${number}`;
}

/** Shows `success` or the failure; returns whether the result is a success. */
export function report(result: Result<unknown>, success: string): boolean {
  if (result.ok) notify("good", success);
  else notify("bad", describeFailure(result.failure));
  return result.ok;
}

export function Notices(): JSX.Element {
  const shown = useStore(notices);
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <div key={id} class={`notice ${kind}`}>
          <span>{text}</span>
          <Button kind="quiet" icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}

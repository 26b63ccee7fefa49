import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "./parts/dialog.tsx";
import { formatRoute, go } from "./route.ts";

/** Pages by the key that is pressed after `g`. */
const places: Readonly<Record<string, string>> = {
  b: "blobs",
  t: "tables",
  q: "queues",
  s: "shares",
  c: "concurrency",
  h: "health",
  o: "overview",
  l: "timeline",
};

const keys: readonly (readonly [keys: string, words: string])[] = [
  ["g then b, t, q, s", "Blobs, tables, queues, shares"],
  ["g then o, c, l, h", "Overview, concurrency, timeline, health"],
  ["/", "Focus the filter"],
  ["↑ ↓ Page Home End", "Move in a list"],
  ["Enter", "Open"],
  ["Space", "Select"],
  ["Shift with arrows", "Select a range"],
  ["Ctrl+A", "Select all"],
  ["Ctrl+C, Ctrl+X, Ctrl+V", "Copy, cut, paste blobs"],
  ["Delete, F2", "Delete, rename"],
  ["Shift+F10", "Menu of the row"],
  ["u", "Go up one level"],
  ["n", "New"],
  ["Ctrl+S", "Save the changes"],
  ["Escape", "Close details or dialog"],
  ["?", "Show this list"],
];

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches("input, textarea, select") || target.closest("dialog") !== null;
}

function press(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) return false;
  if (element instanceof HTMLInputElement) element.focus();
  else element.click();
  return true;
}

export function Shortcuts({ account }: { readonly account: string }): JSX.Element | null {
  const [isShown, show] = useState(false);
  useEffect(() => {
    let isAfterG = false;
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      // A dialog whose focused button has disappeared still gets its own keys.
      if (document.querySelector("dialog[open]") !== null) return;
      const address = isAfterG ? places[event.key] : undefined;
      isAfterG = event.key === "g";
      const isService = "btqs".includes(event.key);
      if (address !== undefined) go(formatRoute(address, isService ? [account] : []));
      else if (event.key === "?") show(true);
      else if (event.key === "/") press("[data-filter]");
      else if (event.key === "u") press("[data-up]");
      else if (event.key === "n") press("[data-new] button");
      else if (event.key === "Escape") press("[data-close] button");
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [account]);
  if (!isShown) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => show(false)}>
      <dl class="facts form">
        {keys.map(([name, words]) => (
          <>
            <dt>
              <kbd>{name}</kbd>
            </dt>
            <dd>{words}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}

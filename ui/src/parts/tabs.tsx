import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { leaveEditor } from "../edit/unsaved.ts";

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly (readonly [id: string, words: string])[];
  readonly active: string;
  readonly onChange: (id: string) => void;
}

/** One tab stop; arrow keys select, as the ARIA tabs pattern requires. */
export function Tabs({ label, tabs, active, onChange }: TabsProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const walk = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(([id]) => id === active);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    leaveEditor(() => {
      onChange(next[0]);
      list.current?.querySelector<HTMLElement>(`[data-tab="${next[0]}"]`)?.focus();
    });
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={walk}>
      {tabs.map(([id, words]) => (
        <button
          key={id}
          type="button"
          role="tab"
          data-tab={id}
          class="tab"
          aria-selected={id === active}
          tabIndex={id === active ? 0 : -1}
          onClick={() => leaveEditor(() => onChange(id))}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

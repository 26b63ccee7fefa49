import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

const pauseMilliseconds = 200;

/** Reports the typed prefix once typing pauses for 200 ms. */
export function Filter({
  label,
  onChange,
}: {
  readonly label: string;
  readonly onChange: (prefix: string) => void;
}): JSX.Element {
  const [text, setText] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => onChange(text), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="filter">
      <Icon name="search" />
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </div>
  );
}

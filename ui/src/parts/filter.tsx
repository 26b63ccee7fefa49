import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { setQuery, useQueryValue } from "../route.ts";
import { Icon } from "./icon.tsx";
import type { NameFilter } from "./name-filter.ts";

const pauseMilliseconds = 200;

/** The filter in the address. */
export function useFilter(): NameFilter {
  const [text] = useQueryValue("find");
  const [by] = useQueryValue("by", "prefix");
  const mode = by === "contains" ? "contains" : "prefix";
  return useMemo(() => ({ text, mode }), [text, mode]);
}

/** The field of the filter; the address has its text once typing pauses for 200 ms. */
export function Filter(): JSX.Element {
  const shown = useFilter();
  const [text, setText] = useState(shown.text);
  const { mode } = shown;
  const sent = useRef(shown.text);
  useEffect(() => {
    // The own change comes back later: what was typed since then must stay.
    if (shown.text !== sent.current) setText(shown.text);
    sent.current = shown.text;
  }, [shown.text]);
  useEffect(() => {
    if (text === shown.text) return;
    const send = (): void => {
      sent.current = text;
      setQuery({ find: text });
    };
    const timer = setTimeout(send, pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  const label = mode === "prefix" ? "Prefix" : "Part of the name";
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
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <select
        aria-label="Search by"
        value={mode}
        onChange={({ currentTarget: { value } }) =>
          setQuery({ by: value === "prefix" ? undefined : value })
        }
      >
        <option value="prefix">begins with</option>
        <option value="contains">contains</option>
      </select>
    </div>
  );
}

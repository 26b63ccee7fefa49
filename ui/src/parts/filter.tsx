import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { noFilter, type NameFilter } from "./name-filter.ts";

const pauseMilliseconds = 200;

/** Reports the filter once typing pauses for 200 ms. */
export function Filter({
  onChange,
}: {
  readonly onChange: (filter: NameFilter) => void;
}): JSX.Element {
  const [filter, setFilter] = useState(noFilter);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    const timer = setTimeout(() => onChange(filter), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [filter]);
  const label = filter.mode === "prefix" ? "Prefix" : "Part of the name";
  return (
    <div class="filter">
      <Icon name="search" />
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        spellcheck={false}
        value={filter.text}
        onInput={({ currentTarget }) => setFilter({ ...filter, text: currentTarget.value })}
      />
      <select
        aria-label="Search by"
        value={filter.mode}
        onChange={({ currentTarget }) =>
          setFilter({ ...filter, mode: currentTarget.value as NameFilter["mode"] })
        }
      >
        <option value="prefix">begins with</option>
        <option value="contains">contains</option>
      </select>
    </div>
  );
}

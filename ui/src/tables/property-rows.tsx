import type { JSX } from "preact";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { useAddedFocus } from "../parts/use-added-focus.ts";
import { edmTypes, type EdmType, type Property } from "../rest/entity.ts";

export interface NamedProperty extends Property {
  readonly name: string;
}

interface PropertyRowsProps {
  readonly rows: readonly NamedProperty[];
  readonly onChange: (rows: readonly NamedProperty[]) => void;
}

/** Input fields for the name, type and value of each property of an entity. */
export function PropertyRows({ rows, onChange }: PropertyRowsProps): JSX.Element {
  const isReadOnly = !useAbilities().write;
  const set = (at: number, patch: Partial<NamedProperty>): void => {
    onChange(rows.map((row, index) => (index === at ? { ...row, ...patch } : row)));
  };
  const added = useAddedFocus(rows.length, ".property");
  const add = added.adding(() => onChange([...rows, { name: "", type: "Edm.String", text: "" }]));
  return (
    <div class="pairs" ref={added.ref}>
      {rows.map(({ name, type, text }, index) => (
        <div class="property" key={index}>
          <input
            aria-label={`Name of property ${index + 1}`}
            value={name}
            readOnly={isReadOnly}
            onInput={({ currentTarget }) => set(index, { name: currentTarget.value })}
          />
          <select
            aria-label={`Type of property ${index + 1}`}
            value={type}
            disabled={isReadOnly}
            onChange={({ currentTarget }) => set(index, { type: currentTarget.value as EdmType })}
          >
            {edmTypes.map((one) => (
              <option key={one} value={one}>
                {one.slice(4)}
              </option>
            ))}
          </select>
          <input
            aria-label={`Value of property ${index + 1}`}
            value={text}
            readOnly={isReadOnly}
            onInput={({ currentTarget }) => set(index, { text: currentTarget.value })}
          />
          <Button
            kind="quiet"
            icon="close"
            needs="write"
            label={`Remove property ${name}`}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <div class="editor-bar">
        <Button icon="plus" needs="write" onClick={add}>
          Add property
        </Button>
      </div>
    </div>
  );
}

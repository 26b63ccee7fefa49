import type { JSX } from "preact";
import { Button } from "../parts/button.tsx";
import { aclScopes, aclTypes, entryName, type AclEntry } from "./acl.ts";

interface AclRowsProps {
  readonly entries: readonly AclEntry[];
  readonly isDirectory: boolean;
  readonly onChange: (entries: readonly AclEntry[]) => void;
}

const letters = ["r", "w", "x"] as const;
const words = { r: "Read", w: "Write", x: "Execute" } as const;

function withLetter(permissions: string, at: number, letter: string): string {
  return permissions.slice(0, at) + letter + permissions.slice(at + 1);
}

/** The entries of a list as a table of controls. */
export function AclRows({ entries, isDirectory, onChange }: AclRowsProps): JSX.Element {
  const set = (at: number, patch: Partial<AclEntry>): void =>
    onChange(entries.map((entry, index) => (index === at ? { ...entry, ...patch } : entry)));
  return (
    <div class="acl">
      {entries.map((entry, index) => (
        <AclRow
          key={index}
          entry={entry}
          number={index + 1}
          isDirectory={isDirectory}
          onChange={(patch) => set(index, patch)}
          onRemove={() => onChange(entries.filter((_, at) => at !== index))}
        />
      ))}
    </div>
  );
}

interface AclRowProps {
  readonly entry: AclEntry;
  readonly number: number;
  readonly isDirectory: boolean;
  readonly onChange: (patch: Partial<AclEntry>) => void;
  readonly onRemove: () => void;
}

function AclRow({ entry, number, isDirectory, onChange, onRemove }: AclRowProps): JSX.Element {
  const { scope, type, id, permissions } = entry;
  const mayBeNamed = type === "user" || type === "group";
  const scopes = isDirectory || scope === "default" ? aclScopes : (["access"] as const);
  return (
    <div class="acl-row" role="group" aria-label={`Entry ${entryName(entry)}`}>
      <Select
        label={`Scope of entry ${number}`}
        value={scope}
        options={scopes}
        onChange={(value) => onChange({ scope: value })}
      />
      <Select
        label={`Type of entry ${number}`}
        value={type}
        options={aclTypes}
        onChange={(value) => onChange({ type: value })}
      />
      <input
        aria-label={`Id of entry ${number}`}
        placeholder={mayBeNamed ? `owning ${type}` : ""}
        disabled={!mayBeNamed && id === ""}
        spellcheck={false}
        value={id}
        onInput={({ currentTarget }) => onChange({ id: currentTarget.value })}
      />
      {letters.map((letter, at) => (
        <label class="check" key={letter} title={words[letter]}>
          <input
            type="checkbox"
            aria-label={`${words[letter]} of entry ${number}`}
            checked={permissions[at] === letter}
            onChange={({ currentTarget }) => {
              const next = currentTarget.checked ? letter : "-";
              onChange({ permissions: withLetter(permissions, at, next) });
            }}
          />
          <span aria-hidden="true">{letter}</span>
        </label>
      ))}
      <Button
        kind="quiet"
        icon="close"
        label={`Remove entry ${entryName(entry)}`}
        onClick={onRemove}
      />
    </div>
  );
}

interface SelectProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly T[];
  readonly onChange: (value: T) => void;
}

function Select<T extends string>({ label, value, options, onChange }: SelectProps<T>) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value as T)}
    >
      {options.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

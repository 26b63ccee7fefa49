import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { edmTypes } from "../rest/entity.ts";
import { filterText, operators, type Clause } from "./filter-text.ts";

interface QueryBuilderProps {
  /** The filter that the list shows. */
  readonly filter: string;
  readonly properties: readonly string[];
  readonly onRun: (filter: string) => void;
}

const emptyClause: Clause = {
  join: "and",
  property: "PartitionKey",
  operator: "eq",
  type: "Edm.String",
  value: "",
};

/** Builds a `$filter` text from clauses. The user may edit the text, and it is sent as it is. */
export function QueryBuilder({ filter, properties, onRun }: QueryBuilderProps): JSX.Element {
  const [clauses, setClauses] = useState<readonly Clause[]>([]);
  const [raw, setRaw] = useState(filter);
  useEffect(() => setRaw(filter), [filter]);
  const change = (next: readonly Clause[]): void => {
    setClauses(next);
    setRaw(filterText(next));
  };
  const set = (at: number, patch: Partial<Clause>): void => {
    change(clauses.map((clause, index) => (index === at ? { ...clause, ...patch } : clause)));
  };
  return (
    <form
      class="query"
      aria-label="Query"
      onSubmit={(event) => {
        event.preventDefault();
        onRun(raw);
      }}
    >
      {clauses.map((clause, index) => (
        <ClauseRow
          key={index}
          clause={clause}
          number={index + 1}
          onChange={(patch) => set(index, patch)}
          onRemove={() => change(clauses.filter((_, at) => at !== index))}
        />
      ))}
      <datalist id="property-names">
        {properties.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="query-row">
        <Button icon="filter" onClick={() => change([...clauses, emptyClause])}>
          Add clause
        </Button>
        <input
          class="mono grow"
          aria-label="$filter"
          placeholder="$filter, such as PartitionKey eq 'a' and Count gt 3"
          spellcheck={false}
          data-filter
          value={raw}
          onInput={(event) => setRaw(event.currentTarget.value)}
        />
        <Button type="submit" kind="main" icon="search">
          Run query
        </Button>
      </div>
    </form>
  );
}

interface ClauseRowProps {
  readonly clause: Clause;
  readonly number: number;
  readonly onChange: (patch: Partial<Clause>) => void;
  readonly onRemove: () => void;
}

function ClauseRow({ clause, number, onChange, onRemove }: ClauseRowProps): JSX.Element {
  const label = (words: string): string => `${words} of clause ${number}`;
  return (
    <div class="query-row" role="group" aria-label={`Clause ${number}`}>
      <select
        aria-label={label("Junction")}
        value={clause.join}
        disabled={number === 1}
        onChange={({ currentTarget }) => onChange({ join: currentTarget.value as "and" | "or" })}
      >
        <option value="and">and</option>
        <option value="or">or</option>
      </select>
      <input
        aria-label={label("Property")}
        list="property-names"
        value={clause.property}
        onInput={({ currentTarget }) => onChange({ property: currentTarget.value })}
      />
      <select
        aria-label={label("Operator")}
        value={clause.operator}
        onChange={({ currentTarget }) =>
          onChange({ operator: currentTarget.value as Clause["operator"] })
        }
      >
        {operators.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <select
        aria-label={label("Type")}
        value={clause.type}
        onChange={({ currentTarget }) => onChange({ type: currentTarget.value as Clause["type"] })}
      >
        {edmTypes.map((type) => (
          <option key={type} value={type}>
            {type.slice(4)}
          </option>
        ))}
      </select>
      <input
        class="grow"
        aria-label={label("Value")}
        value={clause.value}
        onInput={({ currentTarget }) => onChange({ value: currentTarget.value })}
      />
      <Button kind="quiet" icon="close" label={`Remove clause ${number}`} onClick={onRemove} />
    </div>
  );
}

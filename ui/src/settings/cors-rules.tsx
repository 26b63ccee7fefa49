import type { JSX } from "preact";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import type { CorsRule } from "../rest/service-properties.ts";

interface CorsRulesProps {
  readonly rules: readonly CorsRule[];
  readonly onChange: (rules: readonly CorsRule[]) => void;
}

/** Limit of the services. */
const rulesMax = 5;
const newRule: CorsRule = {
  origins: "*",
  methods: "GET,HEAD",
  headers: "*",
  exposed: "*",
  maxAgeSeconds: "3600",
};

const fields: readonly (readonly [keyof CorsRule, string])[] = [
  ["origins", "Allowed origins"],
  ["methods", "Allowed methods"],
  ["headers", "Allowed headers"],
  ["exposed", "Exposed headers"],
  ["maxAgeSeconds", "Maximum age (s)"],
];

export function CorsRules({ rules, onChange }: CorsRulesProps): JSX.Element {
  const change = (index: number, part: Partial<CorsRule>): void =>
    onChange(rules.map((rule, at) => (at === index ? { ...rule, ...part } : rule)));
  return (
    <fieldset class="section">
      <legend>CORS rules</legend>
      {rules.length === 0 && <p class="soft">No rules. Pages of other sites get no access.</p>}
      {rules.map((rule, index) => (
        <div key={index} class="row" role="group" aria-label={`Rule ${index + 1}`}>
          {fields.map(([field, label]) => (
            <Field
              key={field}
              label={label}
              name={`${field}${index}`}
              value={rule[field]}
              onInput={(text) => change(index, { [field]: text })}
            />
          ))}
          <Button
            kind="quiet"
            icon="trash"
            label={`Remove rule ${index + 1}`}
            onClick={() => onChange(rules.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {rules.length < rulesMax && (
        <Button icon="plus" onClick={() => onChange([...rules, newRule])}>
          Add rule
        </Button>
      )}
    </fieldset>
  );
}

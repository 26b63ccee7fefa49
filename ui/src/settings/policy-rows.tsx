import type { JSX } from "preact";
import type { Policy } from "../admin/policies.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { localTime, utcTime } from "../parts/local-time.ts";
import { useAddedFocus } from "../parts/use-added-focus.ts";

interface PolicyRowsProps {
  readonly policies: readonly Policy[];
  readonly onChange: (policies: readonly Policy[]) => void;
}

/** Limit of the services. */
const policiesMax = 5;

export function PolicyRows({ policies, onChange }: PolicyRowsProps): JSX.Element {
  const change = (index: number, part: Partial<Policy>): void =>
    onChange(policies.map((policy, at) => (at === index ? { ...policy, ...part } : policy)));
  const added = useAddedFocus(policies.length, ".policy");
  return (
    <fieldset class="section">
      <legend>Stored access policies</legend>
      {policies.length === 0 && (
        <p class="soft">No policies. A SAS can refer to a policy, which can be changed later.</p>
      )}
      <div class="section" ref={added.ref}>
        {policies.map((policy, index) => (
          <div key={index} class="row policy" role="group" aria-label={`Policy ${index + 1}`}>
            <Field
              label="Id"
              name={`id${index}`}
              value={policy.id}
              required
              onInput={(id) => change(index, { id })}
            />
            <Field
              label="Permissions (letters such as rl)"
              name={`permission${index}`}
              value={policy.permission ?? ""}
              onInput={(permission) => change(index, { permission })}
            />
            <Field
              label="Start"
              name={`start${index}`}
              type="datetime-local"
              value={localTime(policy.start)}
              onInput={(text) => change(index, { start: utcTime(text) })}
            />
            <Field
              label="Expiry"
              name={`expiry${index}`}
              type="datetime-local"
              value={localTime(policy.expiry)}
              onInput={(text) => change(index, { expiry: utcTime(text) })}
            />
            <Button
              kind="quiet"
              icon="trash"
              label={`Remove policy ${index + 1}`}
              onClick={() => onChange(policies.filter((_, at) => at !== index))}
            />
          </div>
        ))}
      </div>
      {policies.length < policiesMax && (
        <Button icon="plus" onClick={added.adding(() => onChange([...policies, { id: "" }]))}>
          Add policy
        </Button>
      )}
    </fieldset>
  );
}

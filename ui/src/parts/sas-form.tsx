import type { JSX } from "preact";
import { textIn } from "./form-values.ts";
import { useState } from "preact/hooks";
import { createSas, type SasRequest, type Signature } from "../admin/sas.ts";
import { moment } from "../format.ts";
import { Button } from "./button.tsx";
import { CopyText } from "./copy-text.tsx";
import { Check, Choice, Field } from "./field.tsx";
import { describeFailure } from "./notices.tsx";

export interface SasFormProps {
  readonly target: Pick<
    SasRequest,
    "account" | "service" | "container" | "path" | "snapshot" | "versionId"
  >;
  readonly permissions: readonly (readonly [letter: string, words: string])[];
}

const terms = [
  ["60", "one hour"],
  ["1440", "one day"],
  ["10080", "one week"],
  ["525600", "one year"],
] as const;

/** Creates a SAS URL for one resource with chosen permissions and expiry. */
export function SasForm({ target, permissions }: SasFormProps): JSX.Element {
  const [made, setMade] = useState<Signature>();
  const [problem, setProblem] = useState<string>();
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const starts = textIn(values, "startsAt");
    const result = await createSas({
      kind: "service",
      ...target,
      permissions: values.getAll("permission").map(String).join(""),
      minutes: Number(values.get("minutes")),
      startsAt: starts === "" ? undefined : new Date(starts).toISOString(),
      ip: textIn(values, "ip") || undefined,
      protocol: values.has("secure") ? "https" : undefined,
    });
    setMade(result.ok ? result.value : undefined);
    setProblem(result.ok ? undefined : describeFailure(result.failure));
  };
  return (
    <form class="section" onSubmit={(event) => void submit(event)}>
      <fieldset class="choices">
        <legend>Permissions</legend>
        {permissions.map(([letter, words], index) => (
          <Check key={letter} name="permission" value={letter} checked={index === 0}>
            {words}
          </Check>
        ))}
      </fieldset>
      <div class="row">
        <Choice label="For" name="minutes" options={terms} />
        <Field label="Start (default now)" name="startsAt" type="datetime-local" />
        <Field label="Allowed IP address" name="ip" />
      </div>
      <div class="row">
        <Check name="secure">HTTPS only</Check>
        <Button type="submit" kind="main" icon="link">
          Create SAS URL
        </Button>
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {made !== undefined && (
        <>
          <CopyText label="Link" text={made.url} />
          <p class="hint">Valid until {moment(made.expiresAt)}</p>
        </>
      )}
    </form>
  );
}

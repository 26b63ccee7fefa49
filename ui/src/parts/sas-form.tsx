import type { JSX } from "preact";
import { textIn } from "./form-values.ts";
import { useState } from "preact/hooks";
import { createSas, type SasRequest, type Signature } from "../admin/sas.ts";
import type { ServiceName } from "../admin/server.ts";
import { moment } from "../format.ts";
import { Button } from "./button.tsx";
import { CopyText } from "./copy-text.tsx";
import { Section } from "./detail.tsx";
import { Check, Field } from "./field.tsx";
import { useMaySign } from "../permissions.ts";
import { describeFailure } from "./notices.tsx";
import { minutesIn, SasTerm } from "./sas-term.tsx";

interface SasFormProps {
  readonly target: Pick<SasRequest, "account" | "container" | "path" | "snapshot" | "versionId"> & {
    readonly service: ServiceName;
  };
  readonly permissions: readonly (readonly [letter: string, words: string])[];
}

/** Creates a SAS URL for one resource with chosen permissions and expiry. */
export function SasForm(props: SasFormProps): JSX.Element {
  return (
    <Section title="Shared access signature">
      <SigningForm {...props} />
    </Section>
  );
}

function SigningForm({ target, permissions }: SasFormProps): JSX.Element {
  const [made, setMade] = useState<Signature>();
  const [problem, setProblem] = useState<string>();
  if (!useMaySign(target.account, target.service)) {
    return <p class="hint">No role of yours for the whole account permits a user delegation key</p>;
  }
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const time = minutesIn(values);
    if (typeof time === "string") return setProblem(time);
    const result = await createSas({
      kind: "service",
      ...target,
      permissions: values.getAll("permission").map(String).join(""),
      ...time,
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
      <SasTerm />
      <div class="row">
        <Field label="Allowed IP address" name="ip" />
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

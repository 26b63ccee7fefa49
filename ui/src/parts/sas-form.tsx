import type { JSX } from "preact";
import { textIn } from "./form-values.ts";
import { useState } from "preact/hooks";
import { accounts } from "../accounts.ts";
import { getPolicies, type PoliciesView, type Policy } from "../admin/policies.ts";
import { createSas, type SasRequest, type Signature } from "../admin/sas.ts";
import type { ServiceName } from "../admin/server.ts";
import { moment } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "./button.tsx";
import { CopyText } from "./copy-text.tsx";
import { Section } from "./detail.tsx";
import { Check, Choice, Field } from "./field.tsx";
import { useMaySign } from "../permissions.ts";
import { done } from "../result.ts";
import { useStore } from "../store.ts";
import { describeFailure } from "./notices.tsx";
import { minutesIn, SasTerm } from "./sas-term.tsx";

interface SasFormProps {
  readonly target: Pick<SasRequest, "account" | "path" | "snapshot" | "versionId"> & {
    readonly service: ServiceName;
    readonly container: string;
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
  const [made, setMade] = useState<MadeSasProps>();
  const [problem, setProblem] = useState<string>();
  const { chosen: policy, choice } = usePolicyChoice(target);
  if (!useMaySign(target.account, target.service)) {
    return <p class="hint">No role of yours for the whole account permits a user delegation key</p>;
  }
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const time = isGiven(policy?.expiry) ? {} : minutesIn(values);
    if (typeof time === "string") return setProblem(time);
    const result = await createSas({
      kind: "service",
      ...target,
      ...byPolicy(policy, {
        permissions: values.getAll("permission").map(String).join(""),
        ...time,
      }),
      ip: textIn(values, "ip") || undefined,
      protocol: values.has("secure") ? "https" : undefined,
    });
    setMade(result.ok ? { made: result.value, policy } : undefined);
    setProblem(result.ok ? undefined : describeFailure(result.failure));
  };
  return (
    <form class="section" onSubmit={(event) => void submit(event)}>
      {choice}
      {!isGiven(policy?.permission) && (
        <fieldset class="choices">
          <legend>Permissions</legend>
          {permissions.map(([letter, words], index) => (
            <Check key={letter} name="permission" value={letter} checked={index === 0}>
              {words}
            </Check>
          ))}
        </fieldset>
      )}
      {!isGiven(policy?.expiry) && <SasTerm />}
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
      {made !== undefined && <MadeSas {...made} />}
    </form>
  );
}

interface MadeSasProps {
  readonly made: Signature;
  readonly policy: Policy | undefined;
}

function MadeSas({ made, policy }: MadeSasProps): JSX.Element {
  return (
    <>
      <CopyText label="Link" text={made.url} />
      <p class="hint">
        {policy === undefined
          ? `Valid until ${moment(made.expiresAt)}`
          : `Valid as long as the access policy ${policy.id} permits it`}
      </p>
    </>
  );
}

const noPolicies: PoliciesView = { policies: [] };

type Terms = Pick<SasRequest, "permissions" | "minutes" | "startsAt">;

/** What a SAS has besides its policy: a SAS must not repeat what the policy says. */
function byPolicy(
  policy: Policy | undefined,
  given: Terms,
): Terms & Pick<SasRequest, "identifier"> {
  if (policy === undefined) return given;
  const { permissions, minutes, startsAt } = given;
  return {
    identifier: policy.id,
    ...(isGiven(policy.permission) ? {} : { permissions }),
    ...(isGiven(policy.expiry) ? {} : { minutes }),
    ...(isGiven(policy.start) ? {} : { startsAt }),
  };
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text !== "";
}

/** The choice of a stored access policy of the container or share; nothing if it has none, or if
 *  the login may not read them. */
function usePolicyChoice(target: SasFormProps["target"]) {
  const { account, service, container } = target;
  const [id, setId] = useState("");
  // A principal signs with a user delegation key, which takes no policies.
  const isPrincipal = useStore(accounts).some(
    ({ name, permissions }) => name === account && permissions !== undefined,
  );
  const loaded = useLoad(
    async (signal) =>
      isPrincipal ? done(noPolicies) : getPolicies({ account, service, container }, signal),
    [account, service, container],
  );
  const policies = loaded.value?.policies ?? [];
  const options = policies.map((policy) => [policy.id, policy.id] as const);
  const choice = policies.length > 0 && (
    <Choice
      label="Stored access policy"
      value={id}
      options={[["", "None"], ...options]}
      onChange={setId}
    />
  );
  return { choice, chosen: policies.find((policy) => policy.id === id) };
}

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { accounts } from "../accounts.ts";
import { createSas, type Signature } from "../admin/sas.ts";
import { moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure } from "../parts/notices.tsx";
import { minutesIn, SasTerm, type SasTime } from "../parts/sas-term.tsx";
import { Problem } from "../parts/states.tsx";
import { useStore } from "../store.ts";

type Letters = readonly (readonly [letter: string, words: string])[];

const services: Letters = [
  ["b", "Blobs"],
  ["q", "Queues"],
  ["t", "Tables"],
  ["f", "Files"],
];
const levels: Letters = [
  ["s", "Service"],
  ["c", "Containers"],
  ["o", "Objects"],
];
const permissions: Letters = [
  ["r", "Read"],
  ["w", "Write"],
  ["d", "Delete"],
  ["l", "List"],
  ["a", "Add"],
  ["c", "Create"],
  ["u", "Update"],
  ["p", "Process"],
  ["t", "Tags"],
  ["f", "Find by tags"],
  ["x", "Delete versions"],
  ["y", "Delete permanently"],
  ["i", "Immutability"],
];
const endpoints: Readonly<Record<string, string>> = {
  b: "blob",
  q: "queue",
  t: "table",
  f: "file",
};

/** Creates an account SAS with chosen services, levels, permissions and expiry. */
export function AccountSas({ account }: { readonly account: string }): JSX.Element {
  const known = useStore(accounts).find(({ name }) => name === account);
  const [made, setMade] = useState<Signature & { readonly services: string }>();
  const [problem, setProblem] = useState<string>();
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const letters = (name: string): string => values.getAll(name).map(String).join("");
    const time: SasTime | string = minutesIn(values);
    if (typeof time === "string") return setProblem(time);
    const chosen = letters("service");
    const result = await createSas({
      kind: "account",
      account,
      services: chosen,
      resourceTypes: letters("level"),
      permissions: letters("permission"),
      ...time,
      ip: textIn(values, "ip") || undefined,
      protocol: values.has("secure") ? "https" : undefined,
    });
    setMade(result.ok ? { ...result.value, services: chosen } : undefined);
    setProblem(result.ok ? undefined : describeFailure(result.failure));
  };
  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <Choices title="Services" name="service" letters={services} />
      <Choices title="Levels" name="level" letters={levels} />
      <Choices title="Permissions" name="permission" letters={permissions} checked="rl" />
      <SasTerm />
      <div class="row">
        <Field label="Allowed IP address" name="ip" />
        <Check name="secure">HTTPS only</Check>
      </div>
      <Problem text={problem} />
      <div class="row">
        <Button type="submit" kind="main" icon="link">
          Create account SAS
        </Button>
      </div>
      {made !== undefined && (
        <>
          <CopyText label="SAS" text={made.query} />
          {made.services.split("").map((letter) => {
            const service = endpoints[letter] ?? "";
            const url = known?.endpoints[service];
            if (url === undefined) return null;
            const text = `${url}?${made.query}`;
            return <CopyText key={letter} label={`${service} service URL`} text={text} />;
          })}
          <p class="hint">Valid until {moment(made.expiresAt)}</p>
        </>
      )}
    </form>
  );
}

interface ChoicesProps {
  readonly title: string;
  readonly name: string;
  readonly letters: Letters;
  /** The letters that are checked at first; all of them if absent. */
  readonly checked?: string;
}

function Choices({ title, name, letters, checked }: ChoicesProps): JSX.Element {
  return (
    <fieldset class="choices">
      <legend>{title}</legend>
      {letters.map(([letter, text]) => (
        <Check
          key={letter}
          name={name}
          value={letter}
          checked={checked === undefined || checked.includes(letter)}
        >
          {text}
        </Check>
      ))}
    </fieldset>
  );
}

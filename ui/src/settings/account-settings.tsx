import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { accounts, session } from "../accounts.ts";
import { changeAccount, type Account } from "../admin/server.ts";
import { useUnsavedForm } from "../edit/unsaved-form.ts";
import { Button } from "../parts/button.tsx";
import { Facts } from "../parts/detail.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Problem } from "../parts/states.tsx";
import { useStore } from "../store.ts";
import { AccountCommands } from "./new-account.tsx";

const switches = [
  ["versioning", "Keep versions of blobs"],
  ["publicAccess", "Allow anonymous access to containers"],
  ["sharedKey", "Accept account keys"],
  ["lastAccessTracking", "Record the last access of blobs"],
] as const;
const days = [
  ["containerSoftDeleteDays", "Keep deleted containers (days)"],
  ["shareSoftDeleteDays", "Keep deleted shares (days)"],
] as const;

/** Settings of the account itself: a form for stored accounts; configured ones have them in their
 *  file. */
export function AccountSettings({ account }: { readonly account: string }): JSX.Element | null {
  const known = useStore(accounts).find(({ name }) => name === account);
  const { account: own, principal } = useStore(session) ?? {};
  if (known === undefined) return null;
  const isServerLogin = own === undefined && principal === undefined;
  if (!isServerLogin) return <SettingsFacts known={known} />;
  return (
    <>
      {known.source === "stored" ? <SettingsForm known={known} /> : <SettingsFacts known={known} />}
      <AccountCommands known={known} />
    </>
  );
}

function SettingsFacts({ known }: { readonly known: Account }): JSX.Element {
  return (
    <>
      <Facts
        facts={[
          ...switches.map(([name, words]) => [words, known[name] ? "yes" : "no"] as const),
          ...days.map(([name, words]) => [words, String(known[name])] as const),
        ]}
      />
      <p class="hint">
        {known.source === "stored"
          ? "Changes need the admin token."
          : "These settings are in the configuration of the server."}
      </p>
    </>
  );
}

function SettingsForm({ known }: { readonly known: Account }): JSX.Element {
  const [problem, setProblem] = useState<string>();
  const { onSaved, ...guarded } = useUnsavedForm();
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const result = await changeAccount(known.name, {
      ...Object.fromEntries(switches.map(([name]) => [name, values.has(name)])),
      ...Object.fromEntries(days.map(([name]) => [name, Number(textIn(values, name))])),
    });
    setProblem(result.ok ? undefined : describeFailure(result.failure));
    if (!result.ok) return;
    const changed = result.value;
    accounts.update((all) => all.map((each) => (each.name === known.name ? changed : each)));
    onSaved();
    notify("good", "Account settings saved");
  };
  return (
    <form class="form" {...guarded} onSubmit={(event) => void save(event)}>
      {switches.map(([name, words]) => (
        <Check key={name} name={name} checked={known[name]}>
          {words}
        </Check>
      ))}
      {days.map(([name, words]) => (
        <Field key={name} label={words} name={name} type="number" value={String(known[name])} />
      ))}
      <Problem text={problem} />
      <div class="row">
        <Button type="submit" kind="main">
          Save account settings
        </Button>
      </div>
    </form>
  );
}

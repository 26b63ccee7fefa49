import type { JSX } from "preact";
import { textIn } from "./parts/form-values.ts";
import { useEffect, useState } from "preact/hooks";
import { loginWanted } from "./admin/call.ts";
import { forgetAccess } from "./admin/sas.ts";
import { getSession, logIn, type Session } from "./admin/server.ts";
import { FormDialog } from "./parts/dialog.tsx";
import { Field } from "./parts/field.tsx";
import { describeFailure } from "./parts/notices.tsx";
import { Tabs } from "./parts/tabs.tsx";

/** The dialog that logs in with an account key or the admin token. */
export function LoginDialog({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [session, setSession] = useState<Session>();
  const [method, setMethod] = useState("key");
  useEffect(() => {
    const ask = async (): Promise<void> => {
      const found = await getSession();
      if (found.ok) setSession(found.value);
    };
    void ask();
  }, []);
  const submit = async (values: FormData): Promise<string | undefined> => {
    const text = (name: string): string => textIn(values, name).trim();
    const proof =
      method === "token"
        ? { token: text("token") }
        : { account: text("account"), key: text("key") };
    const result = await logIn(proof);
    if (!result.ok) return describeFailure(result.failure);
    forgetAccess();
    loginWanted.set(false);
    onDone();
    return undefined;
  };
  const methods = session?.methods ?? ["key"];
  return (
    <FormDialog title="Log in" action="Log in" onSubmit={submit}>
      {methods.length > 1 && (
        <Tabs
          label="Log in with"
          active={method}
          onChange={setMethod}
          tabs={[
            ["key", "Account key"],
            ["token", "Admin token"],
          ]}
        />
      )}
      {method === "token" ? (
        <Field label="Token" name="token" type="password" required autoFocus />
      ) : (
        <>
          <Field label="Account" name="account" required autoFocus />
          <Field label="Key" name="key" type="password" required />
        </>
      )}
    </FormDialog>
  );
}

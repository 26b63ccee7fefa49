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

/** The login dialog, shown after a response with status 401. The user enters an account key or, if
 *  the server has one, the admin token. `onDone` is called only after a successful login. */
export function LoginDialog({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [session, setSession] = useState<Session>();
  const [method, setMethod] = useState("key");
  useEffect(() => {
    const loadSession = async (): Promise<void> => {
      const found = await getSession();
      if (found.ok) setSession(found.value);
    };
    void loadSession();
  }, []);
  const submit = async (values: FormData): Promise<string | undefined> => {
    const text = (name: string): string => textIn(values, name).trim();
    const credentials =
      method === "token"
        ? { token: text("token") }
        : { account: text("account"), key: text("key") };
    const result = await logIn(credentials);
    if (!result.ok) return describeFailure(result.failure);
    // The SAS of the previous login must not be used any more.
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

import type { JSX } from "preact";
import { textIn } from "./parts/form-values.ts";
import { useEffect, useState } from "preact/hooks";
import { loginWanted } from "./admin/call.ts";
import { forgetAccess } from "./admin/sas.ts";
import { getSession, logIn, type LoginMethod, type Session } from "./admin/server.ts";
import { FormDialog } from "./parts/dialog.tsx";
import { Field } from "./parts/field.tsx";
import { describeFailure } from "./parts/notices.tsx";
import { Tabs } from "./parts/tabs.tsx";

interface Method {
  readonly words: string;
  readonly fields: readonly (readonly [name: string, label: string])[];
  readonly hint?: string;
}

const methods: Readonly<Record<LoginMethod, Method>> = {
  key: {
    words: "Account key",
    fields: [
      ["account", "Account"],
      ["key", "Key"],
    ],
  },
  token: { words: "Admin token", fields: [["token", "Token"]] },
  principal: {
    words: "Principal",
    fields: [
      ["principal", "Principal"],
      ["secret", "Secret"],
    ],
    hint: "The page shows what the roles of the principal permit.",
  },
  bearer: {
    words: "Bearer token",
    fields: [["bearer", "Bearer token"]],
    hint: "A token for https://storage.azure.com of an issuer that this server trusts.",
  },
};

/** Fields that are shown as text; all others are secrets. */
const readable: ReadonlySet<string> = new Set(["account", "principal"]);

/** The login dialog, shown after a response with status 401: with an account key, the admin token,
 *  a principal or a bearer token, as far as the server accepts them. `onDone` is called after
 *  a successful login only. */
export function LoginDialog({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [session, setSession] = useState<Session>();
  const [method, setMethod] = useState<LoginMethod>("key");
  useEffect(() => {
    const loadSession = async (): Promise<void> => {
      const found = await getSession();
      if (found.ok) setSession(found.value);
    };
    void loadSession();
  }, []);
  const { fields, hint } = methods[method];
  const submit = async (values: FormData): Promise<string | undefined> => {
    const given = fields.map(([name]) => [name, textIn(values, name).trim()]);
    const result = await logIn(Object.fromEntries(given) as Parameters<typeof logIn>[0]);
    if (!result.ok) return describeFailure(result.failure);
    // The SAS of the previous login must not be used any more.
    forgetAccess();
    loginWanted.set(false);
    onDone();
    return undefined;
  };
  const offered = session?.methods ?? ["key"];
  return (
    <FormDialog title="Log in" action="Log in" onSubmit={submit}>
      {offered.length > 1 && (
        <Tabs
          label="Log in with"
          active={method}
          onChange={(id) => setMethod(id as LoginMethod)}
          tabs={offered.map((each) => [each, methods[each].words] as const)}
        />
      )}
      {fields.map(([name, label], index) => (
        <Field
          key={name}
          label={label}
          name={name}
          type={readable.has(name) ? "text" : "password"}
          required
          autoFocus={index === 0}
        />
      ))}
      {hint !== undefined && <p class="hint">{hint}</p>}
      <p class="hint">
        The command etagere login prints a link that administers the server without these.
      </p>
    </FormDialog>
  );
}

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { accounts, session } from "../accounts.ts";
import {
  createAccount,
  deleteAccount,
  getAccounts,
  getSession,
  type Account,
  type AccountKeys,
} from "../admin/server.ts";
import { loginWanted } from "../admin/call.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Section } from "../parts/detail.tsx";
import { Dialog, FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure } from "../parts/notices.tsx";
import { formatRoute, go } from "../route.ts";

const options = [
  ["versioning", "Keep versions of blobs"],
  ["hierarchicalNamespace", "Directories as objects (Data Lake)"],
  ["changeFeed", "Change feed"],
] as const;

/** Commands for the administrator of the server: create an account, delete a stored one. */
export function AccountCommands({ known }: { readonly known: Account }): JSX.Element {
  const [dialog, setDialog] = useState<"new" | "delete">();
  const [made, setMade] = useState<AccountKeys>();
  const close = (): void => setDialog(undefined);
  return (
    <Section title="Accounts">
      <div class="row">
        <Button icon="plus" onClick={() => setDialog("new")}>
          New account
        </Button>
        {known.source === "stored" && (
          <Button icon="trash" kind="danger" onClick={() => setDialog("delete")}>
            Delete account
          </Button>
        )}
      </div>
      {dialog === "new" && <NewAccount onMade={setMade} onClose={close} />}
      {dialog === "delete" && <DeleteAccount name={known.name} onClose={close} />}
      {made !== undefined && <MadeAccount made={made} onClose={() => setMade(undefined)} />}
    </Section>
  );
}

/** Loads the accounts again. A second account may be the first secret: then a login is required. */
async function reloadAccounts(): Promise<void> {
  const [found, own] = await Promise.all([getAccounts(), getSession()]);
  if (found.ok) accounts.set(found.value.accounts);
  else if (found.failure.status === 401) loginWanted.set(true);
  if (own.ok) session.set(own.value);
}

interface NewAccountProps {
  readonly onMade: (made: AccountKeys) => void;
  readonly onClose: () => void;
}

function NewAccount({ onMade, onClose }: NewAccountProps): JSX.Element {
  const submit = async (values: FormData): Promise<string | undefined> => {
    const name = textIn(values, "name").trim();
    const chosen = options.filter(([id]) => values.has(id)).map(([id]) => [id, true] as const);
    const result = await createAccount(name, Object.fromEntries(chosen));
    if (!result.ok) return describeFailure(result.failure);
    onMade(result.value);
    await reloadAccounts();
    return undefined;
  };
  return (
    <FormDialog title="New account" action="Create" onClose={onClose} onSubmit={submit}>
      <Field label="Name" name="name" required autoFocus hint="3 to 24 letters a–z and digits" />
      {options.map(([id, words]) => (
        <Check key={id} name={id}>
          {words}
        </Check>
      ))}
      <p class="hint">
        With an account that has a secret key, the explorer requires a login. This browser stays
        logged in; etagere login prints a link for others.
      </p>
    </FormDialog>
  );
}

interface MadeAccountProps {
  readonly made: AccountKeys;
  readonly onClose: () => void;
}

function MadeAccount({ made, onClose }: MadeAccountProps): JSX.Element {
  const { account, keys, connectionString } = made;
  return (
    <Dialog title={`Account ${account} created`} onClose={onClose}>
      <div class="form">
        <CopyText label="Connection string" text={connectionString} />
        {keys.map((key, index) => (
          <CopyText key={key} label={`Key ${index + 1}`} text={key} />
        ))}
        <footer class="dialog-foot">
          <Button
            kind="main"
            onClick={() => {
              onClose();
              go(formatRoute("blobs", [account]));
            }}
          >
            Open account
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}

interface DeleteAccountProps {
  readonly name: string;
  readonly onClose: () => void;
}

function DeleteAccount({ name, onClose }: DeleteAccountProps): JSX.Element {
  return (
    <Confirm
      title="Delete account"
      text={`Delete the account ${name} with all containers, queues, tables and shares in it?`}
      action="Delete"
      typed={name}
      onConfirm={async () => {
        const result = await deleteAccount(name);
        if (!result.ok) return describeFailure(result.failure);
        await reloadAccounts();
        go(formatRoute("blobs", []));
        return undefined;
      }}
      onClose={onClose}
    />
  );
}

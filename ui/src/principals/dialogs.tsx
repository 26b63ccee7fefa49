import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { accounts } from "../accounts.ts";
import {
  assignRole,
  changePrincipal,
  createPrincipal,
  deleteAssignment,
  deletePrincipal,
  type AssignmentInfo,
  type ChangedPrincipal,
  type Identity,
  type PrincipalInfo,
} from "../admin/identity.ts";
import type { ServiceName } from "../admin/server.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Dialog, FormDialog } from "../parts/dialog.tsx";
import { Check, Choice, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { NamePicker } from "../parts/name-picker.tsx";
import { describeFailure } from "../parts/notices.tsx";
import type { Result } from "../result.ts";
import { useStore } from "../store.ts";

/** The open dialog of the page. */
export type IdentityDialog =
  | { readonly kind: "principal"; readonly principal: PrincipalInfo | undefined }
  | { readonly kind: "assignment"; readonly principal: string }
  | { readonly kind: "delete principal"; readonly name: string }
  | { readonly kind: "delete assignment"; readonly id: string; readonly words: string };

interface DialogsProps {
  readonly identity: Identity;
  readonly dialog: IdentityDialog | undefined;
  readonly onDialog: (dialog: IdentityDialog | undefined) => void;
  /** Loads the identities again. */
  readonly onDone: () => void;
}

export function Dialogs({ identity, dialog, onDialog, onDone }: DialogsProps): JSX.Element | null {
  // Beside the dialog of the page, which closes once the principal is created.
  const [made, setMade] = useState<ChangedPrincipal>();
  const onClose = (): void => onDialog(undefined);
  const confirmed = async (sent: Promise<Result<unknown>>): Promise<string | undefined> => {
    const result = await sent;
    onDone();
    return result.ok ? undefined : describeFailure(result.failure);
  };
  switch (dialog?.kind) {
    case undefined:
      if (made === undefined) return null;
      return <MadePrincipal principal={made} onClose={() => setMade(undefined)} />;
    case "principal":
      return (
        <PrincipalForm
          principal={dialog.principal}
          onClose={onClose}
          onMade={(principal) => {
            if (principal.secret !== undefined) setMade(principal);
            onDone();
          }}
        />
      );
    case "assignment":
      return (
        <AssignmentForm
          identity={identity}
          principal={dialog.principal}
          onSubmit={(given) => confirmed(assignRole(given))}
          onClose={onClose}
        />
      );
    case "delete principal":
      return (
        <Confirm
          title="Delete principal"
          text={`Delete ${dialog.name} with its role assignments? Its tokens and logins end.`}
          action="Delete"
          onConfirm={() => confirmed(deletePrincipal(dialog.name))}
          onClose={onClose}
        />
      );
    case "delete assignment":
      return (
        <Confirm
          title="Delete role assignment"
          text={`Delete the role assignment ${dialog.words}? It ends at once.`}
          action="Delete"
          onConfirm={() => confirmed(deleteAssignment(dialog.id))}
          onClose={onClose}
        />
      );
  }
}

interface PrincipalFormProps {
  /** Undefined for a new one. */
  readonly principal: PrincipalInfo | undefined;
  readonly onMade: (principal: ChangedPrincipal) => void;
  readonly onClose: () => void;
}

/** Name and object id of an existing principal are fixed. */
function PrincipalForm({ principal, onMade, onClose }: PrincipalFormProps): JSX.Element {
  const submit = async (values: FormData): Promise<string | undefined> => {
    const groups = textIn(values, "groups")
      .split(/[\s,]+/)
      .filter((id) => id !== "");
    const clientId = textIn(values, "clientId").trim() || null;
    const fields = { clientId, groups, newSecret: values.has("newSecret") };
    const objectId = textIn(values, "objectId").trim();
    const name = textIn(values, "name").trim();
    const result = await (principal === undefined
      ? createPrincipal({ name, objectId, ...fields })
      : changePrincipal(principal.name, fields));
    if (!result.ok) return describeFailure(result.failure);
    onMade(result.value);
    return undefined;
  };
  const [title, action] =
    principal === undefined ? ["New principal", "Create"] : [`Change ${principal.name}`, "Save"];
  return (
    <FormDialog title={title} action={action} onClose={onClose} onSubmit={submit}>
      {principal === undefined && (
        <>
          <Field label="Name" name="name" required autoFocus />
          <Field label="Object id" name="objectId" hint="Empty: a new GUID" />
        </>
      )}
      <Field
        label="Client id"
        name="clientId"
        value={principal?.clientId ?? ""}
        hint="With it the principal requests tokens. Empty: the object id"
      />
      <Field
        label="Groups"
        name="groups"
        value={principal?.groups.join(", ") ?? ""}
        hint="Object ids, separated by commas"
      />
      <Check name="newSecret" checked={principal === undefined}>
        {principal?.hasSecret === true ? "Replace the secret by a new one" : "Create a secret"}
      </Check>
      <p class="hint">
        A principal may do what its role assignments permit. Clients send tokens over HTTPS only.
      </p>
    </FormDialog>
  );
}

/** The only view that shows the secret. */
function MadePrincipal({
  principal,
  onClose,
}: {
  readonly principal: ChangedPrincipal;
  readonly onClose: () => void;
}): JSX.Element {
  const { name, objectId, clientId, secret = "" } = principal;
  return (
    <Dialog title={`Secret of ${name}`} onClose={onClose}>
      <div class="form">
        <CopyText label="Secret" text={secret} />
        <CopyText label="Client id" text={clientId} />
        <CopyText label="Object id" text={objectId} />
        <p class="hint">The secret is not shown again. A new one can replace it at any time.</p>
        <footer class="dialog-foot">
          <Button kind="main" onClick={onClose}>
            Close
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}

const scopes: readonly (readonly [field: string, words: string, service: ServiceName])[] = [
  ["container", "One container", "blob"],
  ["queue", "One queue", "queue"],
  ["table", "One table", "table"],
  ["share", "One share", "file"],
];

interface AssignmentFormProps {
  readonly identity: Identity;
  /** The name that is chosen at first. */
  readonly principal: string;
  readonly onSubmit: (assignment: object) => Promise<string | undefined>;
  readonly onClose: () => void;
}

function AssignmentForm(props: AssignmentFormProps): JSX.Element {
  const { identity, principal, onSubmit, onClose } = props;
  const names = useStore(accounts).map(({ name }) => name);
  const [account, setAccount] = useState("");
  const [scope, setScope] = useState("");
  const chosen = scopes.find(([field]) => field === scope);
  const submit = (values: FormData): Promise<string | undefined> =>
    onSubmit({
      principal: textIn(values, "principal").trim(),
      role: textIn(values, "role"),
      account: account || undefined,
      ...(chosen && { [chosen[0]]: textIn(values, "scopeName").trim() }),
    });
  return (
    <FormDialog title="New role assignment" action="Assign" onClose={onClose} onSubmit={submit}>
      <Field
        label="Principal or group"
        name="principal"
        value={principal}
        required
        autoFocus={principal === ""}
        hint="Name of a principal, or the object id of a user or group"
      />
      <Choice
        label="Role"
        name="role"
        options={identity.roles.map(({ name }) => [name, name] as const)}
      />
      <Choice
        label="Account"
        value={account}
        onChange={setAccount}
        options={[["", "All accounts"], ...names.map((name) => [name, name] as const)]}
      />
      <Choice
        label="Applies to"
        value={scope}
        onChange={setScope}
        options={[["", "Everything"], ...scopes.map(([field, words]) => [field, words] as const)]}
      />
      {chosen !== undefined && (
        <NamePicker
          key={`${chosen[2]} ${account}`}
          label="Name"
          name="scopeName"
          account={account || (names[0] ?? "")}
          service={chosen[2]}
          value=""
        />
      )}
    </FormDialog>
  );
}

/** An assignment in a few words. */
export function assignmentWords({ principal, objectId, role, account }: AssignmentInfo): string {
  return `${role} of ${principal ?? objectId} in ${account ?? "all accounts"}`;
}

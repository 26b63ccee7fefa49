import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { session } from "../accounts.ts";
import {
  getIdentity,
  type AssignmentInfo,
  type Identity,
  type PrincipalInfo,
  type RoleInfo,
} from "../admin/identity.ts";
import { logIn } from "../admin/server.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { report } from "../parts/notices.tsx";
import { PlainTable } from "../parts/plain-table.tsx";
import { Badge, Empty, Failed, Waiting } from "../parts/states.tsx";
import { useStore } from "../store.ts";
import { assignmentWords, Dialogs, type IdentityDialog } from "./dialogs.tsx";

const actionPrefix = "Microsoft.Storage/storageAccounts/";

/** Principals, role assignments and roles. An administrator of the server changes stored ones. */
export function PrincipalsPage(): JSX.Element {
  const loaded = useLoad(getIdentity, []);
  const [dialog, setDialog] = useState<IdentityDialog>();
  const { account, principal: own } = useStore(session) ?? {};
  const mayChange = account === undefined && own === undefined;
  const { value, failure } = loaded;
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Principals" }]} />
        {value?.rolesDecide === false && <Badge tone="warn">roles are not used</Badge>}
        {mayChange && (
          <span data-new>
            <Button
              icon="plus"
              kind="main"
              onClick={() => setDialog({ kind: "principal", principal: undefined })}
            >
              New principal
            </Button>
          </span>
        )}
        {mayChange && (
          <Button icon="plus" onClick={() => setDialog({ kind: "assignment", principal: "" })}>
            Assign role
          </Button>
        )}
      </div>
      <div class="work">
        <div class="scroll" tabIndex={0} role="region" aria-label="Principals and roles">
          {failure !== undefined && (
            <Failed what="principals" failure={failure} onRetry={loaded.reload} />
          )}
          {value === undefined && failure === undefined && <Waiting />}
          {value !== undefined && (
            <Sections identity={value} onDialog={mayChange ? setDialog : undefined} />
          )}
        </div>
      </div>
      {value !== undefined && (
        <Dialogs identity={value} dialog={dialog} onDialog={setDialog} onDone={loaded.reload} />
      )}
    </>
  );
}

/** Opens a dialog; undefined if the login may change nothing. */
type OnDialog = ((dialog: IdentityDialog) => void) | undefined;

interface SectionsProps {
  readonly identity: Identity;
  readonly onDialog: OnDialog;
}

function Sections({ identity, onDialog }: SectionsProps): JSX.Element {
  const { principals, assignments, roles, issuers = [], ignored = [] } = identity;
  return (
    <>
      <section class="section">
        <h2>Principals</h2>
        <Principals principals={principals} onDialog={onDialog} />
      </section>
      <section class="section">
        <h2>Role assignments</h2>
        <Assignments assignments={assignments} onDialog={onDialog} />
      </section>
      {ignored.length > 0 && (
        <section class="section">
          <h2>Stored, but not used</h2>
          <PlainTable
            titles={["Kind", "Name or id", "Reason", ""]}
            rows={ignored.map(({ kind, id, problem }) => [
              kind,
              <code>{id}</code>,
              problem,
              <Button
                icon="trash"
                label={`Delete ${kind} ${id}`}
                onClick={() =>
                  onDialog?.(
                    kind === "principal"
                      ? { kind: "delete principal", name: id }
                      : { kind: "delete assignment", id, words: id },
                  )
                }
              />,
            ])}
          />
        </section>
      )}
      <section class="section">
        <h2>Roles</h2>
        {roles.map((role) => (
          <Role key={role.name} role={role} />
        ))}
      </section>
      {issuers.length > 0 && (
        <section class="section">
          <h2>Trusted issuers</h2>
          <PlainTable
            titles={["Issuer", "Audiences"]}
            rows={issuers.map(({ issuer, audiences }) => [
              issuer,
              audiences.join(", ") || "Azure Storage",
            ])}
          />
        </section>
      )}
    </>
  );
}

interface PrincipalsProps {
  readonly principals: readonly PrincipalInfo[];
  readonly onDialog: OnDialog;
}

/** Only a login that administers the server may act as a principal without its secret. */
function Principals({ principals, onDialog }: PrincipalsProps): JSX.Element {
  const { methods = [] } = useStore(session) ?? {};
  const mayBecome = onDialog !== undefined && methods.includes("bearer");
  if (principals.length === 0) {
    return (
      <Empty>No principals. New principal creates one; the configuration may have some.</Empty>
    );
  }
  const become = async (name: string): Promise<void> => {
    if (report(await logIn({ principal: name }), `Logged in as ${name}`)) location.assign("/");
  };
  return (
    <PlainTable
      titles={["Name", "Source", "Object id", "Client id", "Groups", ...(onDialog ? [""] : [])]}
      rows={principals.map((principal) => [
        <strong>{principal.name}</strong>,
        <span class="soft">{principal.source}</span>,
        <code>{principal.objectId}</code>,
        <code>{principal.clientId}</code>,
        principal.groups.join(", "),
        ...(onDialog === undefined
          ? []
          : [
              <span class="row">
                {mayBecome && (
                  <Button onClick={() => void become(principal.name)}>
                    {`Log in as ${principal.name}`}
                  </Button>
                )}
                <Button onClick={() => onDialog({ kind: "assignment", principal: principal.name })}>
                  Assign role
                </Button>
                {principal.source === "stored" && (
                  <StoredCommands principal={principal} onDialog={onDialog} />
                )}
              </span>,
            ]),
      ])}
    />
  );
}

interface StoredCommandsProps {
  readonly principal: PrincipalInfo;
  readonly onDialog: (dialog: IdentityDialog) => void;
}

function StoredCommands({ principal, onDialog }: StoredCommandsProps): JSX.Element {
  const { name } = principal;
  return (
    <>
      <Button
        icon="edit"
        label={`Change ${name}`}
        onClick={() => onDialog({ kind: "principal", principal })}
      />
      <Button
        icon="trash"
        label={`Delete ${name}`}
        onClick={() => onDialog({ kind: "delete principal", name })}
      />
    </>
  );
}

interface AssignmentsProps {
  readonly assignments: readonly AssignmentInfo[];
  readonly onDialog: OnDialog;
}

function Assignments({ assignments, onDialog }: AssignmentsProps): JSX.Element {
  if (assignments.length === 0) {
    return <Empty>No role assignments. Without one a principal may do nothing.</Empty>;
  }
  return (
    <PlainTable
      titles={["Principal or group", "Role", "Account", "Scope", ...(onDialog ? [""] : [])]}
      rows={assignments.map((assignment) => {
        const { id, principal, objectId, role, account, scope } = assignment;
        const words = assignmentWords(assignment);
        return [
          principal ?? <code>{objectId}</code>,
          role,
          account ?? "all accounts",
          scope === undefined ? "everything" : `${scope.service}: ${scope.name}`,
          ...(onDialog === undefined
            ? []
            : [
                id === undefined ? (
                  <span class="soft">configured</span>
                ) : (
                  <Button
                    icon="trash"
                    label={`Delete ${words}`}
                    onClick={() => onDialog({ kind: "delete assignment", id, words })}
                  />
                ),
              ]),
        ];
      })}
    />
  );
}

function Role({ role }: { readonly role: RoleInfo }): JSX.Element {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ["Actions", role.actions],
    ["Excluded actions", role.notActions],
    ["Data actions", role.dataActions],
    ["Excluded data actions", role.notDataActions],
  ];
  return (
    <details class="role">
      <summary>
        {role.name} {!role.isBuiltIn && <Badge tone="accent">custom</Badge>}
      </summary>
      <dl class="facts">
        {lists
          .filter(([, actions]) => actions.length > 0)
          .map(([title, actions]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{actions.map((action) => action.replace(actionPrefix, "")).join(", ")}</dd>
            </div>
          ))}
      </dl>
    </details>
  );
}

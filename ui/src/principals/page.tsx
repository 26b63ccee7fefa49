import type { JSX } from "preact";
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

const actionPrefix = "Microsoft.Storage/storageAccounts/";

/** Principals, role assignments and roles of the configuration. */
export function PrincipalsPage(): JSX.Element {
  const loaded = useLoad(getIdentity, []);
  const { value, failure } = loaded;
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Principals" }]} />
        {value?.rolesDecide === false && <Badge tone="warn">roles are not used</Badge>}
      </div>
      <div class="work">
        <div class="scroll" tabIndex={0} role="region" aria-label="Principals and roles">
          {failure !== undefined && (
            <Failed what="principals" failure={failure} onRetry={loaded.reload} />
          )}
          {value === undefined && failure === undefined && <Waiting />}
          {value !== undefined && <Sections identity={value} />}
        </div>
      </div>
    </>
  );
}

function Sections({ identity }: { readonly identity: Identity }): JSX.Element {
  const { principals, assignments, roles, issuers = [] } = identity;
  return (
    <>
      <section class="section">
        <h2>Principals</h2>
        <Principals principals={principals} />
      </section>
      <section class="section">
        <h2>Role assignments</h2>
        <Assignments assignments={assignments} />
      </section>
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

/** Only a login that administers the server may act as a principal without its
 *  secret. */
function Principals({ principals }: { principals: readonly PrincipalInfo[] }): JSX.Element {
  const { account, principal: own, methods = [] } = useStore(session) ?? {};
  const isServer = account === undefined && own === undefined && methods.includes("bearer");
  if (principals.length === 0) {
    return <Empty>No principals. They are part of the configuration file.</Empty>;
  }
  const become = async (name: string): Promise<void> => {
    if (report(await logIn({ principal: name }), `Logged in as ${name}`)) location.assign("/");
  };
  return (
    <PlainTable
      titles={["Name", "Object id", "Client id", "Groups", ...(isServer ? [""] : [])]}
      rows={principals.map(({ name, objectId, clientId, groups }) => [
        <strong>{name}</strong>,
        <code>{objectId}</code>,
        <code>{clientId}</code>,
        groups.join(", "),
        ...(isServer
          ? [<Button onClick={() => void become(name)}>{`Log in as ${name}`}</Button>]
          : []),
      ])}
    />
  );
}

function Assignments({ assignments }: { assignments: readonly AssignmentInfo[] }): JSX.Element {
  if (assignments.length === 0) {
    return <Empty>No role assignments. Without one a principal may do nothing.</Empty>;
  }
  return (
    <PlainTable
      titles={["Principal or group", "Role", "Account", "Scope"]}
      rows={assignments.map(({ principal, objectId, role, account, scope }) => [
        principal ?? <code>{objectId}</code>,
        role,
        account ?? "all accounts",
        scope === undefined ? "everything" : `${scope.service}: ${scope.name}`,
      ])}
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

import type { JSX } from "preact";
import { accounts } from "./accounts.ts";
import type { ServiceName } from "./admin/server.ts";
import { Button } from "./parts/button.tsx";
import { Crumbs } from "./parts/crumbs.tsx";
import { Field } from "./parts/field.tsx";
import { textIn } from "./parts/form-values.ts";
import { Empty } from "./parts/states.tsx";
import { useCapabilities } from "./permissions.ts";
import { formatRoute, go } from "./route.ts";
import { useStore } from "./store.ts";

interface AssignedNamesProps {
  readonly account: string;
  readonly page: string;
  readonly service: ServiceName;
}

/** Links to what a principal has a role for, instead of a list that it may not read. */
export function AssignedNames({ account, page, service }: AssignedNamesProps): JSX.Element {
  const permissions = useStore(accounts).find(({ name }) => name === account)?.permissions;
  const names = (permissions?.scopes ?? []).filter((each) => each.service === service);
  const { read, write } = useCapabilities(account, service);
  const title = page.slice(0, 1).toUpperCase() + page.slice(1);
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: title }]} />
      </div>
      <div class="work">
        <div class="scroll">
          {read || write ? (
            <OpenByName account={account} page={page} />
          ) : (
            names.length === 0 && <Empty>No role of this principal permits to list them.</Empty>
          )}
          {names.length > 0 && (
            <ul class="cards" aria-label={`${title} with a role assignment`}>
              {names.map(({ name }) => (
                <li key={name} class="card">
                  <a href={formatRoute(page, [account, name])}>{name}</a>
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
    </>
  );
}

/** Roles for contents do not always permit to list the names: then one must be known. */
function OpenByName({ account, page }: Omit<AssignedNamesProps, "service">): JSX.Element {
  return (
    <form
      class="section"
      onSubmit={(event) => {
        event.preventDefault();
        const name = textIn(new FormData(event.currentTarget), "name").trim();
        if (name !== "") go(formatRoute(page, [account, name]));
      }}
    >
      <p class="soft">The roles of this principal permit to open names, but not to list them.</p>
      <div class="row">
        <Field label="Name" name="name" required />
        <Button type="submit" kind="main">
          Open
        </Button>
      </div>
    </form>
  );
}

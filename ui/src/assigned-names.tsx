import type { JSX } from "preact";
import { accounts } from "./accounts.ts";
import type { ServiceName } from "./admin/server.ts";
import { Crumbs } from "./parts/crumbs.tsx";
import { Empty } from "./parts/states.tsx";
import { formatRoute } from "./route.ts";
import { useStore } from "./store.ts";

export interface AssignedNamesProps {
  readonly account: string;
  readonly page: string;
  readonly service: ServiceName;
}

/** Links to what a principal has a role for, instead of a list that it may not read. */
export function AssignedNames({ account, page, service }: AssignedNamesProps): JSX.Element {
  const known = useStore(accounts).find(({ name }) => name === account);
  const names = (known?.permissions?.scopes ?? []).filter((each) => each.service === service);
  const title = page.slice(0, 1).toUpperCase() + page.slice(1);
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: title }]} />
      </div>
      <div class="work">
        <div class="scroll">
          {names.length === 0 ? (
            <Empty>No role of this principal permits to list them.</Empty>
          ) : (
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

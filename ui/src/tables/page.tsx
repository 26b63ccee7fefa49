import type { JSX } from "preact";
import { NameList } from "../parts/name-list.tsx";
import { createTable, deleteTable, listTables } from "../rest/table.ts";
import { formatRoute, go } from "../route.ts";
import { EntityBrowser } from "./entity-browser.tsx";

interface TablesPageProps {
  readonly account: string;
  readonly table: string | undefined;
}

/** The page of the Table service: the tables of an account, or the entities of one table. */
export function TablesPage({ account, table }: TablesPageProps): JSX.Element {
  if (table !== undefined && table !== "") {
    return <EntityBrowser key={`${account}/${table}`} address={{ account, table }} />;
  }
  return (
    <NameList
      account={account}
      service="table"
      one="table"
      many="Tables"
      icon="tables"
      hint="3 to 63 letters and digits, a letter first"
      list={(options) => listTables(account, options)}
      create={(name) => createTable(account, name)}
      remove={({ name }) => deleteTable(account, name)}
      urlOf={({ name }) => ({ service: "table", path: name })}
      onOpen={({ name }) => go(formatRoute("tables", [account, name]))}
    />
  );
}

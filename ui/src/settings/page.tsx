import type { JSX } from "preact";
import type { ServiceName } from "../admin/server.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Choice } from "../parts/field.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { formatRoute, go, replaceRoute } from "../route.ts";
import { AccountSas } from "./account-sas.tsx";
import { AccountSettings } from "./account-settings.tsx";
import { PoliciesTab } from "./policies-tab.tsx";
import { ServiceTab } from "./service-tab.tsx";

interface SettingsPageProps {
  readonly account: string;
  readonly tab: string;
  readonly service: string;
  readonly name: string;
}

const services: readonly (readonly [ServiceName, string])[] = [
  ["blob", "Blob"],
  ["queue", "Queue"],
  ["table", "Table"],
  ["file", "File"],
];

/** Settings of an account: service properties, access policies, and an account SAS. */
export function SettingsPage({ account, tab, service, name }: SettingsPageProps): JSX.Element {
  const shown = services.find(([id]) => id === service)?.[0] ?? "blob";
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Settings" }]} />
        {(tab === "services" || tab === "access") && (
          <Choice
            label="Service"
            value={shown}
            options={services}
            onChange={(id) => go(formatRoute("settings", [account, tab, id]))}
          />
        )}
      </div>
      <div class="tab-bar">
        <Tabs
          label="Settings"
          active={tab}
          onChange={(id) => replaceRoute(formatRoute("settings", [account, id, shown]))}
          tabs={[
            ["services", "Services"],
            ["access", "Access policies"],
            ["sas", "Account SAS"],
            ["account", "Account"],
          ]}
        />
      </div>
      <div class="work">
        <div class="scroll" tabIndex={0} role="region" aria-label="Settings">
          {tab === "services" && (
            <ServiceTab key={`${account}${shown}`} account={account} service={shown} />
          )}
          {tab === "access" && (
            <PoliciesTab
              key={`${account}${shown}${name}`}
              target={{ account, service: shown, container: name }}
            />
          )}
          {tab === "sas" && <AccountSas key={account} account={account} />}
          {tab === "account" && <AccountSettings key={account} account={account} />}
        </div>
      </div>
    </>
  );
}

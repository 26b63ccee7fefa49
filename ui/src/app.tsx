import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { accounts, server, session } from "./accounts.ts";
import { loginWanted } from "./admin/call.ts";
import { getAccounts, getServer, getSession, type ServiceName } from "./admin/server.ts";
import { AssignedNames } from "./assigned-names.tsx";
import { BlobsPage } from "./blobs/page.tsx";
import { UnsavedGuard } from "./edit/unsaved-guard.tsx";
import { JobPanel } from "./jobs/panel.tsx";
import { keepLastAccount, lastAccount } from "./last-account.ts";
import { LoginDialog } from "./login-dialog.tsx";
import { lazily } from "./parts/lazily.tsx";
import { AbilitiesContext, allAbilities } from "./parts/abilities.ts";
import { Notices } from "./parts/notices.tsx";
import { Empty, Failed, Waiting } from "./parts/states.tsx";
import { useAbilitiesIn, useCapabilities } from "./permissions.ts";
import { QueuesPage } from "./queues/page.tsx";
import type { Failure } from "./result.ts";
import { RouteContext, useRoute, type Route } from "./route.ts";
import { SharesPage } from "./shares/page.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { Side } from "./side.tsx";
import { useStore } from "./store.ts";
import { TablesPage } from "./tables/page.tsx";
import { UploadPanel } from "./upload/panel.tsx";

/** Pages that are not needed for the first view. */
const HealthPage = lazily(async () => (await import("./health/page.tsx")).HealthPage);
const OverviewPage = lazily(async () => (await import("./overview/page.tsx")).OverviewPage);
const PrincipalsPage = lazily(async () => (await import("./principals/page.tsx")).PrincipalsPage);
const SettingsPage = lazily(async () => (await import("./settings/page.tsx")).SettingsPage);
const TimelinePage = lazily(async () => (await import("./timeline/page.tsx")).TimelinePage);
const EventsPage = lazily(async () => (await import("./events/page.tsx")).EventsPage);
const ConcurrencyPage = lazily(
  async () => (await import("./concurrency/page.tsx")).ConcurrencyPage,
);

export function App(): JSX.Element {
  const route = useRoute();
  const known = useStore(accounts);
  const isLoginWanted = useStore(loginWanted);
  const { account: ownAccount, principal } = useStore(session) ?? {};
  const isServerLogin = ownAccount === undefined && principal === undefined;
  const [failure, setFailure] = useState<Failure>();
  const loadServerData = useCallback(async () => {
    const [found, info, own] = await Promise.all([getAccounts(), getServer(), getSession()]);
    setFailure(found.ok ? undefined : found.failure);
    if (found.ok) accounts.set(found.value.accounts);
    if (info.ok) server.set(info.value);
    if (own.ok) session.set(own.value);
  }, []);
  useEffect(() => void loadServerData(), []);
  const account = accountOf(route, known);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to content
      </a>
      <Side page={pageOf(route)} account={account} />
      <main class="content" id="main" tabIndex={-1}>
        {account !== undefined && (
          <CurrentPage route={route} account={account} isServerLogin={isServerLogin} />
        )}
        {/* A server always has an account: the list is empty only until it is loaded. */}
        {account === undefined && failure === undefined && known.length === 0 && <Waiting />}
        {failure !== undefined && !isLoginWanted && (
          <Failed what="accounts" failure={failure} onRetry={() => void loadServerData()} />
        )}
      </main>
      <div class="panels">
        <JobPanel />
        <UploadPanel />
      </div>
      <Notices />
      <UnsavedGuard />
      <Shortcuts account={account ?? ""} />
      {isLoginWanted && <LoginDialog onDone={() => void loadServerData()} />}
    </div>
  );
}

function focusMain(event: Event): void {
  event.preventDefault();
  // The list, so that its keys work at once.
  const list = document.querySelector<HTMLElement>("#main [role=grid]");
  (list ?? document.querySelector<HTMLElement>("#main"))?.focus();
}

function pageOf({ page }: Route): string {
  return page === "" ? "blobs" : page;
}

/** The account that the address names; if it names none, the last one shown; if that one does not
 *  exist, the first. Stores the result as the last one shown. */
function accountOf(
  { page, segments }: Route,
  known: readonly { readonly name: string }[],
): string | undefined {
  const isOfAccount = ["blobs", "tables", "queues", "shares", "settings", "events"].includes(page);
  const wanted = (isOfAccount ? segments[0] : undefined) ?? lastAccount();
  const found = known.find(({ name }) => name === wanted) ?? known[0];
  if (found !== undefined) keepLastAccount(found.name);
  return found?.name;
}

interface PageProps {
  readonly route: Route;
  readonly account: string;
  /** Whether the login administers the server: not with an account key or as a principal. */
  readonly isServerLogin: boolean;
}

const pageServices: Readonly<Record<string, ServiceName>> = {
  blobs: "blob",
  tables: "table",
  queues: "queue",
  shares: "file",
};

/** The page of the address, with the commands that the login may run. */
function CurrentPage(props: PageProps): JSX.Element {
  const { route, account } = props;
  const page = pageOf(route);
  const service = pageServices[page];
  const [, name = ""] = route.segments;
  const { list } = useCapabilities(account, service ?? "blob", name);
  const own = useAbilitiesIn(account, service ?? "blob", name);
  if (service !== undefined && !list && name === "") {
    return <AssignedNames account={account} page={page} service={service} />;
  }
  const { administer } = own;
  const abilities = service === undefined ? { ...allAbilities, administer } : own;
  return (
    <RouteContext.Provider value={route}>
      <AbilitiesContext.Provider value={abilities}>
        <PageContent {...props} />
      </AbilitiesContext.Provider>
    </RouteContext.Provider>
  );
}

function PageContent({ route, account, isServerLogin }: PageProps): JSX.Element {
  const [, name, ...rest] = route.segments;
  const path = rest.join("/");
  switch (pageOf(route)) {
    case "blobs":
      return <BlobsPage account={account} container={name} prefix={path} query={route.query} />;
    case "tables":
      return <TablesPage account={account} table={name} />;
    case "queues":
      return <QueuesPage account={account} queue={name} />;
    case "shares":
      return <SharesPage account={account} share={name} folder={path} query={route.query} />;
    case "concurrency":
      return <ConcurrencyPage tab={route.segments[0] ?? "leases"} />;
    case "health":
      if (!isServerLogin) return <Empty>Health needs the admin token. Log in with it.</Empty>;
      return <HealthPage />;
    case "settings": {
      const [, tab = "services", shown = "blob", of = ""] = route.segments;
      return <SettingsPage account={account} tab={tab} service={shown} name={of} />;
    }
    case "overview":
      return <OverviewPage account={account} isServerLogin={isServerLogin} />;
    case "events": {
      const [, tab = "subscriptions"] = route.segments;
      return <EventsPage key={account} account={account} tab={tab} mayChange={isServerLogin} />;
    }
    case "timeline":
      return <TimelinePage query={route.query} />;
    case "principals":
      return <PrincipalsPage />;
    default:
      return <Empty>Page not found. Choose one from the menu.</Empty>;
  }
}

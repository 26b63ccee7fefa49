import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { accounts, server, session } from "./accounts.ts";
import { logOut, type ServiceName } from "./admin/server.ts";
import iconUrl from "./icon.svg";
import { KeysDialog } from "./keys-dialog.tsx";
import { Button } from "./parts/button.tsx";
import { Choice } from "./parts/field.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { mayUse } from "./permissions.ts";
import { formatRoute, go } from "./route.ts";
import { useStore } from "./store.ts";
import { nextTheme, theme } from "./theme.ts";

const services: readonly (readonly [IconName, string, ServiceName])[] = [
  ["blobs", "Blobs", "blob"],
  ["tables", "Tables", "table"],
  ["queues", "Queues", "queue"],
  ["shares", "Shares", "file"],
];

const views: readonly (readonly [IconName, string])[] = [
  ["overview", "Overview"],
  ["concurrency", "Concurrency"],
  ["timeline", "Timeline"],
  ["health", "Health"],
  ["principals", "Principals"],
];

const themeIcon = { auto: "auto", light: "sun", dark: "moon" } as const;

interface SideProps {
  readonly page: string;
  readonly account: string | undefined;
}

export function Side({ page, account }: SideProps): JSX.Element {
  const known = useStore(accounts);
  const [isShowingKeys, showKeys] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [page, account]);
  const { account: ownAccount, principal } = useStore(session) ?? {};
  const isServerLogin = ownAccount === undefined && principal === undefined;
  // Health covers all accounts, so it needs the admin token.
  const shownViews = views.filter(([name]) => name !== "health" || isServerLogin);
  const permissions = known.find(({ name }) => name === account)?.permissions;
  return (
    <header class={isOpen ? "side open" : "side"}>
      <a class="brand" href="#/blobs">
        <img src={iconUrl} alt="" />
        Etagere
      </a>
      {account !== undefined && (
        <Choice
          label="Account"
          value={account}
          options={known.map(({ name }) => [name, name] as const)}
          onChange={(name) => go(formatRoute("blobs", [name]))}
        />
      )}
      <nav class="nav" aria-label="Main">
        {services
          .filter(([, , service]) => mayUse(permissions, service))
          .map(([name, words]) => (
            <Item key={name} name={name} words={words} page={page} account={account} />
          ))}
        <button
          type="button"
          class="nav-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="more" />
          <span>More</span>
        </button>
        <div class="nav-rest">
          {principal === undefined && (
            <Item name="settings" words="Settings" page={page} account={account} />
          )}
          {principal === undefined && (
            <Item name="events" words="Events" page={page} account={account} />
          )}
          <div class="nav-title">Live</div>
          {shownViews.map(([name, words]) => (
            <Item key={name} name={name} words={words} page={page} account={undefined} />
          ))}
        </div>
      </nav>
      <SideFoot account={account} onConnect={() => showKeys(true)} />
      {isShowingKeys && account !== undefined && (
        <KeysDialog key={account} account={account} onClose={() => showKeys(false)} />
      )}
    </header>
  );
}

interface SideFootProps {
  readonly account: string | undefined;
  readonly onConnect: () => void;
}

function SideFoot({ account, onConnect }: SideFootProps): JSX.Element {
  const info = useStore(server);
  const chosenTheme = useStore(theme);
  const { expiresAt, principal } = useStore(session) ?? {};
  return (
    <div class="side-foot">
      <span>{info === undefined ? "" : `${info.version}, ${info.store}`}</span>
      {principal !== undefined && <span>as {principal.name}</span>}
      {account !== undefined && principal === undefined && (
        <Button kind="quiet" icon="link" label="Connect" onClick={onConnect} />
      )}
      {expiresAt !== undefined && (
        <Button kind="quiet" icon="leave" label="Log out" onClick={() => void leave()} />
      )}
      <Button
        kind="quiet"
        icon={themeIcon[chosenTheme]}
        label={`Theme: ${chosenTheme}`}
        onClick={nextTheme}
      />
    </div>
  );
}

/** Reloads the page, so that no data of the session stays in memory. */
async function leave(): Promise<void> {
  await logOut();
  location.reload();
}

interface ItemProps {
  readonly name: IconName;
  readonly words: string;
  readonly page: string;
  readonly account: string | undefined;
}

function Item({ name, words, page, account }: ItemProps): JSX.Element {
  const href = formatRoute(name, account === undefined ? [] : [account]);
  return (
    <a href={href} aria-current={page === name ? "page" : undefined}>
      <Icon name={name} />
      <span>{words}</span>
    </a>
  );
}

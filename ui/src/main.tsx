import { render } from "preact";
import { accessTo } from "./admin/sas.ts";
import { App } from "./app.tsx";
import { lastAccount } from "./last-account.ts";
import { logInFromAddress } from "./login-link.ts";
import { describeFailure, notify } from "./parts/notices.tsx";
import { parseRoute } from "./route.ts";

async function begin(): Promise<void> {
  const login = await logInFromAddress();
  if (login !== undefined && !login.ok) notify("bad", describeFailure(login.failure));
  // Requests a SAS for the account that will be shown while the session is checked.
  const { page: firstPage, segments } = parseRoute(location.hash);
  const isService = ["", "blobs", "tables", "queues", "shares"].includes(firstPage);
  const account = segments[0] ?? lastAccount();
  if (isService && account !== null) void accessTo(account);
  const page = document.querySelector("#page");
  if (page === null) return;
  page.replaceChildren();
  render(<App />, page);
}

/** Logs in with a link that was pasted into the open page: this changes only the fragment, so the
 *  browser does not load the page again. */
async function reloadAfterLogin(): Promise<void> {
  if ((await logInFromAddress()) !== undefined) location.reload();
}

addEventListener("hashchange", () => void reloadAfterLogin());

void begin();

import { render } from "preact";
import { accessTo } from "./admin/sas.ts";
import { App } from "./app.tsx";
import { logInFromAddress } from "./login-link.ts";
import { describeFailure, notify } from "./parts/notices.tsx";
import { parseRoute } from "./route.ts";

async function begin(): Promise<void> {
  const login = await logInFromAddress();
  if (login !== undefined && !login.ok) notify("bad", describeFailure(login.failure));
  // Requests a SAS for the account in the address while the session is checked.
  const { page: firstPage, segments } = parseRoute(location.hash);
  const isService = ["blobs", "tables", "queues", "shares"].includes(firstPage);
  if (isService && segments[0] !== undefined) void accessTo(segments[0]);
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

import { render } from "preact";
import { accessTo } from "./admin/sas.ts";
import { App } from "./app.tsx";
import { takeLoginLink } from "./login-link.ts";
import { describeFailure, notify } from "./parts/notices.tsx";
import { parseRoute } from "./route.ts";

async function begin(): Promise<void> {
  const login = await takeLoginLink();
  if (login !== undefined && !login.ok) notify("bad", describeFailure(login.failure));
  // Requests access to the account in the address while the session is checked.
  const { page: firstPage, segments } = parseRoute(location.hash);
  const isService = ["blobs", "tables", "queues", "shares"].includes(firstPage);
  if (isService && segments[0] !== undefined) void accessTo(segments[0]);
  const page = document.querySelector("#page");
  if (page !== null) render(<App />, page);
}

/** A login link pasted into the open page changes only the fragment, which loads nothing. */
async function reloadAfterLogin(): Promise<void> {
  if ((await takeLoginLink()) !== undefined) location.reload();
}

addEventListener("hashchange", () => void reloadAfterLogin());

void begin();

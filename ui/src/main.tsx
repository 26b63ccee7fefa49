import { render } from "preact";
import { accessTo } from "./admin/sas.ts";
import { App } from "./app.tsx";
import { takeLoginLink } from "./login-link.ts";
import { describeFailure, notify } from "./parts/notices.tsx";
import { parseRoute } from "./route.ts";

async function begin(): Promise<void> {
  const login = await takeLoginLink();
  if (login !== undefined && !login.ok) notify("bad", describeFailure(login.failure));
  // What the address names will be asked for; the way in can be asked for meanwhile.
  const { page: firstPage, segments } = parseRoute(location.hash);
  const isService = ["blobs", "tables", "queues", "shares"].includes(firstPage);
  if (isService && segments[0] !== undefined) void accessTo(segments[0]);
  const page = document.querySelector("#page");
  if (page !== null) render(<App />, page);
}

/** A link that is pasted into a page that is open does not load it again. */
async function reloadAfterLogin(): Promise<void> {
  if ((await takeLoginLink()) !== undefined) location.reload();
}

addEventListener("hashchange", () => void reloadAfterLogin());

void begin();

import { render } from "preact";
import { accessTo } from "./admin/sas.ts";
import { App } from "./app.tsx";
import { parseRoute } from "./route.ts";

// What the address names will be asked for; the way in can be asked for meanwhile.
const { page: firstPage, segments } = parseRoute(location.hash);
const isService = ["blobs", "tables", "queues", "shares"].includes(firstPage);
if (isService && segments[0] !== undefined) void accessTo(segments[0]);

const page = document.querySelector("#page");
if (page !== null) render(<App />, page);

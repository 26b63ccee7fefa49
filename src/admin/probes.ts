import type { Administered } from "./administered.ts";
import { nothing, refuse, text, type Answer } from "./answer.ts";
import type { AdminRequest } from "./request.ts";
import type { Route } from "./routes.ts";

const exposition = "text/plain; version=0.0.4; charset=utf-8";

/** For probes and tests. */
export function probeRoutes(administered: Administered): readonly Route[] {
  return [
    { method: "GET", path: "/healthz", open: true, answer: () => text("ok\n") },
    { method: "GET", path: "/readyz", open: true, answer: () => answerReady(administered) },
    {
      method: "GET",
      path: "/metrics",
      answer: () => text(administered.metrics(), 200, exposition),
    },
    {
      method: "POST",
      path: "/admin/v1/reset",
      answer: (request) => answerReset(administered, request),
    },
  ];
}

async function answerReady({ ready }: Administered): Promise<Answer> {
  try {
    await ready();
    return text("ready\n");
  } catch (error) {
    return text(`${error instanceof Error ? error.message : String(error)}\n`, 503);
  }
}

async function answerReset({ reset }: Administered, { headers }: AdminRequest): Promise<Answer> {
  if (reset === undefined) {
    return refuse(403, "ResetNotAllowed", "start with --enableReset to allow this");
  }
  // Browsers send an origin: no page that happens to be open may delete everything.
  if (headers.origin !== undefined) return refuse(403, "NotFromAPage", "not from a page");
  await reset();
  return nothing;
}

import { SnapshotError, type SnapshotProblem } from "../../store/saved-states/saved-states.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, nothing, refuse, type AdminResponse } from "../admin-response.ts";
import { textCheck } from "../inputs.ts";
import type { AdminRequest } from "../request.ts";
import type { Route } from "../routes.ts";

const statuses: Readonly<Partial<Record<SnapshotProblem, number>>> = {
  SnapshotNotFound: 404,
  SnapshotAlreadyExists: 409,
};

/** Saves and restores the complete state of all accounts. */
export function snapshotRoutes({ snapshots }: ViewContext): readonly Route[] {
  const path = "/admin/v1/snapshots";
  const access = "server";
  return [
    {
      method: "GET",
      path,
      access,
      query: {},
      answer: (request) =>
        answer(request, async () => json({ snapshots: await Promise.resolve(snapshots.list()) })),
    },
    {
      method: "POST",
      path,
      access,
      body: { name: textCheck },
      answer: (request) =>
        answer(request, async () => {
          const { name } = request.body;
          await snapshots.save(typeof name === "string" ? name : "");
          return nothing;
        }),
    },
    {
      method: "POST",
      path: `${path}/:snapshot/restore`,
      access,
      body: {},
      answer: (request, { snapshot = "" }) =>
        answer(request, () => snapshots.restore(snapshot).then(() => nothing)),
    },
    {
      method: "DELETE",
      path: `${path}/:snapshot`,
      access,
      answer: (request, { snapshot = "" }) =>
        answer(request, () => snapshots.delete(snapshot).then(() => nothing)),
    },
  ];
}

async function answer(
  { headers }: Pick<AdminRequest, "headers">,
  run: () => Promise<AdminResponse>,
): Promise<AdminResponse> {
  // Only browsers send this header. A web page must not be able to replace all data.
  if (headers.origin !== undefined) return refuse(403, "NotFromAPage", "not allowed from a page");
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return refuse(statuses[error.code] ?? 400, error.code, error.message);
  }
}

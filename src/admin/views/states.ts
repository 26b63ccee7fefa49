import { encodeBase64 } from "../../base/base64.ts";
import { formatIso } from "../../base/dates.ts";
import { generations } from "../../blob/records.ts";
import type { ContainerScope } from "../../blob/resources.ts";
import { Records } from "../../operation/records.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, refuse, type AdminResponse } from "../admin-response.ts";
import { optional, textCheck, wholeNumberText } from "../inputs.ts";
import { countOf, type CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { parseContinuationKey } from "./continuation-key.ts";
import { objectChecks, objectTargetOf } from "./object-target.ts";
import { renderState } from "./render-state.ts";
import { currentState, generationPage, statesMax } from "./stored-states.ts";

const pageDefault = 200;

/** The stored states of a blob, newest first and page by page: List Blobs has the oldest first. */
export function stateRoutes(context: ViewContext): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/admin/v1/states",
      access: "principal",
      query: {
        ...objectChecks(context.httpServices),
        limit: optional(wholeNumberText({ min: 1, max: statesMax })),
        after: optional(textCheck),
      },
      answer: (request) => listStates(context, request),
    },
  ];
}

async function listStates(context: ViewContext, request: CheckedRequest): Promise<AdminResponse> {
  const target = objectTargetOf(context.httpServices, request);
  if ("refusal" in target) return target.refusal;
  const { service, account, address, httpService } = target;
  if (service !== "blob" || address.resource !== "blob") {
    return refuse(
      400,
      "InvalidInput",
      "only blobs have pages of states; give service=blob and path",
    );
  }
  const after = parseContinuationKey(request.query, generations.range([]));
  if ("refusal" in after) return after.refusal;
  const limit = countOf(request.query, "limit", pageDefault);
  const { runtime } = context;
  return runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const located = await httpService.service.resources["blob"]?.load(records, {
      account,
      address,
    });
    if (located?.scope.ok !== true) return json({ now: formatIso(view.now), states: [] });
    const { container, name } = (located.scope.value as ContainerScope).key;
    const page = await generationPage(records, { container, name, limit, after: after.key });
    const first = after.key === undefined ? currentState(located.target) : [];
    const states = [...first, ...page.states].map((state) => renderState(context, service, state));
    const next = page.next === undefined ? {} : { next: encodeBase64(page.next) };
    return json({ now: formatIso(view.now), states, ...next });
  });
}

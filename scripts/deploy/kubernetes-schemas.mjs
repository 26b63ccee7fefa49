// JSON schemas of Kubernetes' resources for kubeconform, made from the description of the API.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const definitionsFile = "_definitions.json";

/** Writes a schema per kind into a folder, and returns the location in kubeconform's form. */
export function writeKubernetesSchemas(api, folder) {
  mkdirSync(folder, { recursive: true });
  const definitions = Object.fromEntries(
    Object.entries(api.definitions).map(([name, schema]) => [name, strict(name, schema)]),
  );
  writeFileSync(join(folder, definitionsFile), JSON.stringify({ definitions }));
  for (const [name, schema] of Object.entries(definitions)) {
    for (const { group, kind, version } of schema["x-kubernetes-group-version-kind"] ?? []) {
      const parts = [kind, ...(group === "" ? [] : [group.split(".")[0]]), version];
      const file = `${parts.join("-").toLowerCase()}.json`;
      const reference = { $ref: `${definitionsFile}#/definitions/${name}` };
      writeFileSync(join(folder, file), JSON.stringify(reference));
    }
  }
  return `${folder}/{{.ResourceKind}}{{.KindSuffix}}.json`;
}

/** Numbers or texts, which the description calls texts. */
const mixed = new Set([
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  "io.k8s.apimachinery.pkg.api.resource.Quantity",
]);

/** Unknown fields are errors: they are mostly misspelt names. */
function strict(name, schema) {
  if (mixed.has(name)) return { oneOf: [{ type: "string" }, { type: "number" }] };
  const { properties } = schema;
  const isClosed = properties !== undefined && schema.additionalProperties === undefined;
  const isLocal = (text) => text.replace("#/definitions/", `${definitionsFile}#/definitions/`);
  const rewritten = JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "$ref" && typeof value === "string" ? isLocal(value) : value,
  );
  return isClosed ? { ...rewritten, additionalProperties: false } : rewritten;
}

// The bill of materials: what is inside the package, the image and the executables, in CycloneDX
// 1.6 JSON. It follows from package-lock.json alone, so that the same commit gives the same bytes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";
import { nodeVersion, platforms } from "./platforms.mjs";

const tourPackages = new Set([
  "@azure/data-tables",
  "@azure/storage-blob",
  "@azure/storage-file-datalake",
  "@azure/storage-file-share",
  "@azure/storage-queue",
]);

/** Development dependencies that are compiled into the explorer's page, the server or the tour. */
const isCompiledIn = (name) =>
  name === "preact" || name.startsWith("@opentelemetry/") || tourPackages.has(name);

/** Licences that npm does not record, because the package's manifest has them in an old form. */
const unrecordedLicences = { "json-bignum": "MIT" };

/** The entries of package-lock.json that are delivered, and the entry of the project itself. */
export function deliveredPackages() {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const { "": project, ...entries } = lock.packages;
  const packages = Object.entries(entries)
    .map(([path, entry]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + 13);
      return { ...entry, path, name, license: entry.license ?? unrecordedLicences[name] };
    })
    .filter(({ link }) => link !== true);
  const compiledIn = withDependencies(packages, isCompiledIn);
  return {
    project,
    packages: packages.filter((each) => each.dev !== true || compiledIn.has(each)),
  };
}

/** Packages with certain names, and all that they need. */
function withDependencies(packages, isWanted) {
  const byPath = new Map(packages.map((each) => [each.path, each]));
  const found = new Set(
    packages.filter(({ name, path }) => isWanted(name) && path === `node_modules/${name}`),
  );
  // A set is iterated with what is added meanwhile.
  for (const { path, dependencies } of found) {
    for (const name of Object.keys(dependencies ?? {})) {
      const needed = findInstalled(byPath, path, name);
      if (needed !== undefined) found.add(needed);
    }
  }
  return found;
}

/** `executables` are the names of the platforms whose Node.js is delivered. */
export function billOfMaterials({ executables }) {
  const { project, packages } = deliveredPackages();
  const runtimes = executables.map(nodeComponent);
  const components = [...packages.map(componentOf), ...runtimes];
  const own = `pkg:npm/${project.name}@${project.version}`;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": own,
        name: project.name,
        version: project.version,
        licenses: [{ license: { id: project.license } }],
        purl: own,
      },
    },
    components: unique(components),
    dependencies: dependenciesOf({ project, own, packages, runtimes }),
  };
}

function componentOf({ name, version, license, integrity, optional }) {
  const purl = purlOf(name, version);
  return {
    type: "library",
    "bom-ref": purl,
    ...nameParts(name),
    version,
    scope: optional === true ? "optional" : "required",
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
    ...(license === undefined ? {} : { licenses: [licenseOf(license)] }),
    purl,
  };
}

/** Node.js inside the executable of a platform, with the hash of the archive that it is from. */
function nodeComponent(platform) {
  const { node, integrity } = platforms[platform];
  const purl = purlOf(node, nodeVersion);
  return {
    type: "platform",
    "bom-ref": purl,
    name: node,
    version: nodeVersion,
    scope: "required",
    hashes: [hashOf(integrity)],
    licenses: [{ license: { id: "MIT" } }],
    purl,
  };
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function nameParts(name) {
  const [group, rest] = name.split("/");
  return rest === undefined ? { name } : { group, name: rest };
}

/** An expression of several licences is not an id. */
function licenseOf(license) {
  return / (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } };
}

/** `sha512-` and base64, as npm records it. */
function hashOf(integrity) {
  const [algorithm, value] = integrity.split("-", 2);
  const content = Buffer.from(value ?? "", "base64").toString("hex");
  return { alg: algorithm.replace("sha", "SHA-"), content };
}

/** The same version may be installed in several places. */
function unique(components) {
  const byRef = new Map(components.map((component) => [component["bom-ref"], component]));
  return [...byRef.values()].toSorted((a, b) => byText(a["bom-ref"], b["bom-ref"]));
}

function byText(left, right) {
  return left < right ? -1 : 1;
}

function dependenciesOf({ project, own, packages, runtimes }) {
  const byPath = new Map(packages.map((each) => [each.path, each]));
  const refOf = (from, name) => {
    const found = findInstalled(byPath, from, name);
    return found === undefined ? [] : [purlOf(found.name, found.version)];
  };
  const edges = new Map();
  const add = (ref, list) => edges.set(ref, new Set([...(edges.get(ref) ?? []), ...list]));
  const compiledIn = Object.keys(project.devDependencies).filter(isCompiledIn);
  const direct = [...Object.keys(project.dependencies), ...compiledIn];
  add(
    own,
    direct.flatMap((name) => refOf("", name)),
  );
  add(
    own,
    runtimes.map(({ purl }) => purl),
  );
  for (const { path, name, version, dependencies, optionalDependencies } of packages) {
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    add(
      purlOf(name, version),
      names.flatMap((each) => refOf(path, each)),
    );
  }
  return [...edges]
    .toSorted(([a], [b]) => byText(a, b))
    .map(([ref, on]) => ({ ref, dependsOn: [...on].toSorted(byText) }));
}

/** Finds a package as Node does: in `node_modules` of the dependent, then of the folders above. */
function findInstalled(byPath, from, name) {
  for (
    let folder = from;
    ;
    folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules"), 0))
  ) {
    const found = byPath.get(
      folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`,
    );
    if (found !== undefined || folder === "") return found;
  }
}

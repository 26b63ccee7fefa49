// Programs that are built from the Go module proxy, at fixed versions: its checksum database
// verifies them. They stay in a cache folder.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";

const cache = join(root, "node_modules", ".cache", "etagere-deploy", "go");
const modules = {
  actionlint: "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12",
  helm: "helm.sh/helm/v3/cmd/helm@v3.22.0",
  kubeconform: "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
};
const kubernetes = "k8s.io/kubernetes@v1.36.3";

export function hasGo() {
  return spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;
}

/** Path of a program, which is built at the first call. */
export function goTool(name) {
  const path = join(cache, name);
  if (existsSync(path)) return path;
  mkdirSync(cache, { recursive: true });
  const env = { ...process.env, GOBIN: cache, GOFLAGS: "-buildvcs=false" };
  const words = ["install", "-ldflags=-s -w", modules[name]];
  execFileSync("go", words, { env, stdio: ["ignore", "ignore", "pipe"] });
  return path;
}

/** The description of Kubernetes' API, from its source. */
export function kubernetesApi() {
  mkdirSync(cache, { recursive: true });
  const words = ["mod", "download", "-json", kubernetes];
  const { Dir: folder } = JSON.parse(execFileSync("go", words, { cwd: cache, encoding: "utf8" }));
  return JSON.parse(readFileSync(join(folder, "api", "openapi-spec", "swagger.json"), "utf8"));
}

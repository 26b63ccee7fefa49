import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { work } from "./docker.ts";

const chart = "deploy/chart";
let helm = "";
let kubeconform: readonly string[] = [];

interface Tools {
  readonly helm: string;
  readonly kubeconform: string;
  readonly schemas: string;
  readonly manifests: Readonly<Record<string, string>>;
}
let tools: Tools;

beforeAll(() => {
  const program = `import { goTool, kubernetesApi } from "./scripts/deploy/go-tools.mjs";
    import { writeKubernetesSchemas } from "./scripts/deploy/kubernetes-schemas.mjs";
    import { renderManifests } from "./scripts/deploy/manifests.mjs";
    const schemas = writeKubernetesSchemas(kubernetesApi(), process.argv[1]);
    const manifests = Object.fromEntries(renderManifests());
    const found = { helm: goTool("helm"), kubeconform: goTool("kubeconform"), schemas, manifests };
    process.stdout.write(JSON.stringify(found));`;
  const words = ["--input-type=module", "--eval", program, join(work, "schemas")];
  const options = { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  tools = JSON.parse(execFileSync(process.execPath, words, options)) as Tools;
  helm = tools.helm;
  kubeconform = ["-strict", "-summary", "-schema-location", tools.schemas];
});

function template(...words: readonly string[]) {
  const all = ["template", "etagere", chart, "--kube-version=1.34.0", ...words];
  const { status, stdout, stderr } = spawnSync(helm, all, { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** Problems that kubeconform finds; empty if there are none. */
function validate(text: string): string {
  const path = join(work, "manifest.yaml");
  writeFileSync(path, text);
  const words = [...kubeconform, "-skip", "ServiceMonitor", path];
  const { status, stdout, stderr } = spawnSync(tools.kubeconform, words, { encoding: "utf8" });
  return status === 0 ? "" : stdout + stderr;
}

const variants: Readonly<Record<string, readonly string[]>> = {
  "the defaults": [],
  "one node with metrics, TLS and workers": [
    "--set=secret.ETAGERE_ADMIN_TOKEN=token,metrics.enabled=true",
    "--set=metrics.serviceMonitor.enabled=true,tls.secretName=certificate",
    "--set=extraArgs={--workers=auto},volume.storageClass=fast",
  ],
  "several nodes": ["--values", `${chart}/examples/nodes.yaml`],
  "several nodes with placement": [
    "--values",
    `${chart}/examples/nodes.yaml`,
    "--set=nodeSelector.disk=ssd,podAnnotations.team=a,imagePullSecrets[0].name=pull",
    "--set=tolerations[0].key=storage,tolerations[0].operator=Exists",
  ],
};

describe("the chart", () => {
  it("passes helm lint", () => {
    const words = ["lint", "--strict", "--kube-version=1.34.0", chart];
    const { status, stdout, stderr } = spawnSync(helm, words, { encoding: "utf8" });
    expect(status, stdout + stderr).toBe(0);
  });

  it.each(Object.keys(variants))("gives valid resources: %s", (name) => {
    const { status, stdout, stderr } = template(...(variants[name] ?? []));
    expect(status, stderr).toBe(0);
    expect(stdout).toContain("kind: Service");
    expect(validate(stdout)).toBe("");
  });

  it("refuses what cannot work, with the missing value", () => {
    expect(template("--set=shared.enabled=true").stderr).toContain("ETAGERE_STORE is missing");
    const bucket = template("--set=shared.enabled=true,existingSecret=etagere");
    expect(bucket.stderr).toContain("the address of the bucket is missing");
    expect(template("--set=metrics.enabled=true").stderr).toContain("ETAGERE_ADMIN_TOKEN");
  });

  it("is judged by schemas that find mistakes", () => {
    const { stdout } = template();
    expect(validate(stdout.replace("readinessProbe:", "readynessProbe:"))).toContain(
      "readynessProbe",
    );
    expect(validate(stdout.replace("replicas: 1", "replicas: one"))).toContain("replicas");
  });

  it.each(["single.yaml", "nodes.yaml", "secret.yaml"])("gives the manifest %s", (name) => {
    const present = readFileSync(join("deploy/kubernetes", name), "utf8");
    expect(present).toBe(tools.manifests[name]);
    expect(validate(present)).toBe("");
  });
});

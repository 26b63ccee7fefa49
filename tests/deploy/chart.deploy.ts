import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { work } from "./docker.ts";

const chart = "deploy/chart";
const kubernetes = "--kube-version=1.34.0";
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
  const all = ["template", "etagere", chart, kubernetes, ...words];
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

const token = "0123456789abcdef";
const configVolume = [
  "--set=extraArgs={--config=/config/accounts.json,--encryption=file:/config/master.key}",
  "--set=extraVolumes[0].name=config,extraVolumes[0].secret.secretName=storage-config",
  "--set=extraVolumeMounts[0].name=config,extraVolumeMounts[0].mountPath=/config",
];

/** NOTES.txt, which `helm template` does not print: as a file of a copy of the chart. */
function notesOf(...words: readonly string[]): string {
  const copy = join(work, "chart-with-notes");
  cpSync(chart, copy, { recursive: true });
  cpSync(join(copy, "templates/NOTES.txt"), join(copy, "notes.txt"));
  const shown = 'notes: {{ tpl (.Files.Get "notes.txt") . | toJson }}\n';
  writeFileSync(join(copy, "templates", "notes.yaml"), shown);
  const all = ["template", "etagere", copy, kubernetes, "--show-only=templates/notes.yaml"];
  const { stdout, stderr } = spawnSync(helm, [...all, ...words], { encoding: "utf8" });
  const [, notes] = /^notes: (.*)$/m.exec(stdout) ?? [];
  if (notes === undefined) throw new Error(stderr);
  return JSON.parse(notes) as string;
}

const variants: Readonly<Record<string, readonly string[]>> = {
  "the defaults": [],
  "one node with metrics, TLS and workers": [
    `--set=secret.ETAGERE_ADMIN_TOKEN=${token},metrics.enabled=true`,
    "--set=metrics.serviceMonitor.enabled=true,tls.secretName=certificate",
    "--set=extraArgs={--workers=auto},volume.storageClass=fast",
  ],
  "one node with a volume for options": configVolume,
  "several nodes with a volume for options": [
    "--values",
    `${chart}/examples/nodes.yaml`,
    ...configVolume,
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
    const words = ["lint", "--strict", kubernetes, chart];
    const { status, stdout, stderr } = spawnSync(helm, words, { encoding: "utf8" });
    expect(status, stdout + stderr).toBe(0);
  });

  it.each(Object.keys(variants))("gives valid resources: %s", (name) => {
    const { status, stdout, stderr } = template(...(variants[name] ?? []));
    expect(status, stderr).toBe(0);
    expect(stdout).toContain("kind: Service");
    expect(validate(stdout)).toBe("");
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

describe("values of the chart", () => {
  it("refuses what cannot work, with the missing value", () => {
    expect(template("--set=shared.enabled=true").stderr).toContain("ETAGERE_STORE is missing");
    const bucket = template("--set=shared.enabled=true,existingSecret=etagere");
    expect(bucket.stderr).toContain("the address of the bucket is missing");
    const missing = "ETAGERE_ADMIN_TOKEN is missing";
    expect(template("--set=metrics.enabled=true").stderr).toContain(missing);
    const other = template("--set=metrics.enabled=true,secret.AZURITE_ACCOUNTS=a:a2V5");
    expect(other.stderr).toContain(missing);
    const file = template("--set=metrics.enabled=true,extraArgs={--adminTokenFile=/token/file}");
    expect(file.status, file.stderr).toBe(0);
    // The value of an option may be a word of its own.
    const words = template("--set=metrics.enabled=true,extraArgs={--adminTokenFile,/token/file}");
    expect(words.status, words.stderr).toBe(0);
  });

  it.each([
    ["metrics.enabeld=true", "enabeld"],
    ["sharde.enabled=true", "sharde"],
    ["metrics.enabled=ture", "metrics.enabled"],
    ["shared.replicas=0", "shared.replicas"],
    ["volume.accessMode=ReadWriteMany", "volume.accessMode"],
    ["service.type=Loadbalancer", "service.type"],
    ["secret.ETAGERE_ADMIN_TOKEN=short", "secret.ETAGERE_ADMIN_TOKEN"],
    ["extraArgs={workers=auto}", "extraArgs.0"],
    ["extraVolumes[0].name=data", "extraVolumes.0.name"],
  ])("refuses the value %s", (value, named) => {
    // Helm writes paths as a.b or /a/b, by its version.
    const { status, stderr } = template(`--set=${value}`);
    expect(status).not.toBe(0);
    expect(stderr.replaceAll("/", ".")).toContain(named);
  });
});

describe("the rendered chart", () => {
  it("replaces the pods when its own secret changes", () => {
    const sumWith = (key: string): string | undefined => {
      const { stdout } = template(`--set=secret.AZURITE_ACCOUNTS=a:${key}`);
      return /checksum\/secret: (\w+)/.exec(stdout)?.[1];
    };
    expect(sumWith("a2V5")).toMatch(/^[0-9a-f]{64}$/);
    expect(sumWith("a2V5")).toBe(sumWith("a2V5"));
    expect(sumWith("a2V5")).not.toBe(sumWith("a2V6"));
    expect(template("--set=existingSecret=etagere").stdout).not.toContain("checksum");
  });

  it("gives volumes and options to the server", () => {
    const { stdout } = template(...configVolume);
    expect(stdout).toContain('- "--config=/config/accounts.json"');
    expect(stdout).toMatch(/volumeMounts:\n.*mountPath: \/data.*\n +- mountPath: \/config\n/);
    expect(stdout).toMatch(/volumes:\n +- name: config\n +secret:\n/);
  });

  it("prints how to connect", () => {
    const one = notesOf("--namespace=team");
    expect(one).toContain("http://etagere.team.svc:10000/ACCOUNT");
    expect(one).toContain("port-forward --namespace team service/etagere 10000");
    expect(one).toContain("statefulset/etagere -- etagere login --location /data");
    expect(one).toContain("the development account, whose key is published");
    const nodes = notesOf("--values", `${chart}/examples/nodes.yaml`, "--set=tls.secretName=tls");
    expect(nodes).toContain("https://etagere.default.svc:10000/ACCOUNT");
    expect(nodes).toContain("kubectl port-forward --namespace default deployment/etagere 10010");
    expect(nodes).toContain("get secret --namespace default etagere --output");
    expect(nodes).not.toContain("development account");
  });
});

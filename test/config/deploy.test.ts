import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../config/load.ts';
import { ROLES } from '../../config/schema.ts';
import { createMetrics, createProcessMeters } from '../../src/app/monitoring/metrics.ts';
import { EVENTS } from '../../src/platform/logging/events.ts';

const DEPLOY = new URL('../../config/deploy/', import.meta.url);
const file = (name: string) => readFile(new URL(name, DEPLOY), 'utf8');
const run = promisify(execFile);

/** Names of all metrics, including those without a current sample. */
async function metricNames(): Promise<Set<string>> {
  const text = await createMetrics({
    database: { query: async () => ({ rows: [], rowCount: 0 }) },
    queue: { counts: async () => ({ waiting: 0, active: 0 }) },
    meters: createProcessMeters(),
    version: '',
    commit: null,
    roles: [],
    dataDir: tmpdir(),
  })();
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`, name] : [name],
    ),
  );
}

const metricsIn = (text: string) => [...text.matchAll(/\bsonogate_[a-z_]+/g)].map(([name]) => name);

describe('the alert rules', () => {
  test('refer only to metrics and events that exist', async () => {
    const text = await file('alerts.yaml');
    const known = await metricNames();
    const asked = metricsIn(text);
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
    const events = [...text.matchAll(/event="([a-z_]+)"/g)].map(([, event]) => event ?? '');
    const ids = new Set(Object.keys(EVENTS));
    expect(events.filter((event) => !ids.has(event))).toEqual([]);
  });

  test('each have a runbook, and docs/monitoring.md lists every metric', async () => {
    const runbooks = await readFile(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
    const { groups } = parse(await file('alerts.yaml')) as {
      groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    const sections = [...runbooks.matchAll(/^## (Sonogate\w+)$/gm)].map(([, alert]) => alert);
    expect(rules.map(({ alert }) => alert).sort()).toEqual(sections.sort());
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    }
    const page = await readFile(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
    const names = [...(await metricNames())].filter(
      (name) => !/_(bucket|sum|count)$/.test(name) || name.endsWith('bytes_sum'),
    );
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the dashboard', () => {
  interface Panel {
    id: number;
    type: string;
    title: string;
    description?: string;
    gridPos: { x: number; w: number };
    targets?: { expr: string }[];
  }
  const panels = async () =>
    (JSON.parse(await file('grafana-dashboard.json')) as { panels: Panel[] }).panels;

  test('refers only to metrics that exist, and describes what each panel shows', async () => {
    const known = await metricNames();
    const graphs = (await panels()).filter(({ type }) => type !== 'row');
    expect(graphs.length).toBeGreaterThan(15);
    for (const { title, description, targets = [], gridPos } of graphs) {
      expect(description, title).toBeTruthy();
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      const asked = targets.flatMap(({ expr }) => metricsIn(expr));
      expect(asked.length, title).toBeGreaterThan(0);
      expect(asked.filter((name) => !known.has(name))).toEqual([]);
    }
  });

  test('never adds up values that every process reports for the whole site', async () => {
    const page = await readFile(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
    const [, ofSite = ''] = page.split('| of the site | | |');
    const site = new Set([...ofSite.matchAll(/^\| `(sonogate_\w+)`/gm)].map(([, name]) => name));
    expect(site.size).toBeGreaterThan(10);
    const expressions = (await panels()).flatMap(({ targets = [] }) => targets);
    for (const { expr } of expressions) {
      const [name = ''] = metricsIn(expr);
      const isOfSite = site.has(name.replace(/_(bucket|sum|count)$/, ''));
      expect(/\bsum\b/.test(expr) && isOfSite, expr).toBe(false);
      if (isOfSite) expect(expr).toMatch(/\bmax\b/);
    }
  });
});

describe('the example for Kubernetes', () => {
  interface Resource {
    kind: string;
    metadata: { name: string; labels: Record<string, string> };
    spec: {
      template?: { spec: PodSpec };
      selector?: { matchLabels?: Record<string, string> };
      ports?: { name: string; targetPort: string }[];
      ingress?: { ports: { port: string }[] }[];
    };
  }
  interface PodSpec {
    terminationGracePeriodSeconds: number;
    securityContext: { runAsNonRoot: boolean };
    containers: {
      env: { name: string; value: string }[];
      ports: { name: string; containerPort: number }[];
      securityContext: { readOnlyRootFilesystem: boolean; allowPrivilegeEscalation: boolean };
    }[];
  }
  const resources = async () =>
    parseAllDocuments(await file('kubernetes.yaml')).map((one) => one.toJS() as Resource);

  test('has a deployment for each role, with enough time to stop, without root, on a read-only disk', async () => {
    const { shutdown } = loadConfig({});
    const pods = (await resources()).flatMap(({ spec: { template } }) => template?.spec ?? []);
    const roles = pods.flatMap(({ containers }) => containers.map(({ env }) => env[0]?.value));
    expect(roles.sort()).toEqual([...ROLES].sort());
    for (const { terminationGracePeriodSeconds: grace, securityContext, containers } of pods) {
      expect(grace).toBeGreaterThan(shutdown.readinessSeconds + shutdown.graceSeconds);
      expect(securityContext.runAsNonRoot).toBe(true);
      expect(containers[0]?.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
      });
    }
  });

  test('lets peers reach every port of a listener: DICOM, HL7 v2 and HTTP', async () => {
    const all = await resources();
    const open = all.flatMap(({ spec: { template } }) =>
      (template?.spec.containers ?? []).flatMap(({ ports }) => ports),
    );
    expect(open).toContainEqual({ name: 'hl7', containerPort: 2575 });
    const named = (names: readonly string[]) => [...new Set(names)].sort();
    const ports = named(open.map(({ name }) => name));
    expect(ports).toEqual(['dicom', 'hl7', 'http', 'monitoring']);
    const admitted = all.flatMap(({ spec: { ingress = [] } }) =>
      ingress.flatMap((one) => one.ports),
    );
    expect(named(admitted.map(({ port }) => port))).toEqual(ports);
    const services = all.filter(({ kind }) => kind === 'Service');
    const reached = services.flatMap((service) => service.spec.ports ?? []);
    expect(named(reached.map(({ targetPort }) => targetPort))).toEqual(['dicom', 'hl7', 'http']);
  });

  test('keeps one pod of each role through a drain', async () => {
    const budgets = (await resources()).filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ spec }) => spec.selector?.matchLabels?.role).sort()).toEqual(
      [...ROLES].sort(),
    );
  });

  test('is valid against the Kubernetes schemas, without unknown fields', async ({ skip }) => {
    const validator = new URL('../../.ci/kubernetes', import.meta.url).pathname;
    if (!existsSync(validator)) return skip('kubernetes-validate is not installed');
    const path = new URL('kubernetes.yaml', DEPLOY).pathname;
    const checked = run('python3', ['-m', 'kubernetes_validate', '--strict', path], {
      env: { ...process.env, PYTHONPATH: validator },
    });
    const { stdout, stderr } = await checked;
    expect(`${stdout}${stderr}`.match(/ passed for resource /g)).toHaveLength(
      (await resources()).length,
    );
  });
});

describe('the example of several machines', () => {
  test('has every role, twice where possible, and usable settings', async () => {
    const { services } = parse(await file('compose.yaml'), { merge: true }) as {
      services: Record<string, { image: string; environment: Record<string, string> }>;
    };
    const gateways = Object.values(services).filter(({ image }) => image === 'sonogate');
    const roles = gateways.map(({ environment }) => environment.SONOGATE_ROLES);
    expect(new Set(roles)).toEqual(new Set(ROLES));
    expect(roles.filter((role) => role === 'dimse')).toHaveLength(2);
    expect(roles.filter((role) => role === 'worker')).toHaveLength(2);
    const site = new URL('site.yaml', DEPLOY).pathname;
    for (const { environment } of gateways) {
      const filled = Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [
          name,
          value.replaceAll(/\$\{[^}]+\}/g, 'secret'),
        ]),
      );
      const config = loadConfig({ SONOGATE_CONFIG: site, ...filled });
      expect(config.monitoring?.port).toBe(9464);
    }
  });
});

describe('the container file', () => {
  test('runs without root, with a health check and every folder of the program', async () => {
    const text = await file('Containerfile');
    const [, last = ''] = text.split(/^FROM .*$/m).slice(1);
    expect(last).toMatch(/^USER 10001:10001$/m);
    expect(last).toMatch(/^HEALTHCHECK .*:9464\/health\/ready/ms);
    expect(last.indexOf('USER')).toBeGreaterThan(last.lastIndexOf('RUN'));
    for (const folder of ['config', 'dimse', 'fhir', 'models', 'pipelines', 'src']) {
      expect(text).toContain(`COPY ${folder} ./${folder}`);
    }
  });
});

describe('the systemd unit', () => {
  const ANALYZE = '/usr/bin/systemd-analyze';

  test('is valid and exposes little', async ({ skip }) => {
    if (!existsSync(ANALYZE)) return skip('systemd is not installed');
    const folder = await mkdtemp(join(tmpdir(), 'sonogate-unit-'));
    // The gateway is not installed on this machine, so another program replaces it in the unit.
    const unit = (await file('sonogate.service'))
      .replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true')
      .replace(/^WorkingDirectory=.*$/m, 'WorkingDirectory=/');
    const path = join(folder, 'sonogate.service');
    await writeFile(path, unit);
    const { stderr } = await run(ANALYZE, ['verify', path]);
    expect(stderr).toBe('');
    const { stdout } = await run(ANALYZE, ['security', '--offline=yes', path]);
    const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    expect(exposure).toBeLessThan(2.5);
    await rm(folder, { recursive: true });
  });

  test('waits for the gateway longer than it may take to stop', async () => {
    const { shutdown } = loadConfig({});
    const wait = Number(/^TimeoutStopSec=(\d+)$/m.exec(await file('sonogate.service'))?.[1]);
    expect(wait).toBeGreaterThan(shutdown.readinessSeconds + shutdown.graceSeconds);
  });
});

test('every deployed file is checked by these tests', async () => {
  expect((await readdir(DEPLOY)).sort()).toEqual([
    'Containerfile',
    'alerts.yaml',
    'compose.yaml',
    'grafana-dashboard.json',
    'kubernetes.yaml',
    'site.yaml',
    'sonogate.service',
  ]);
});

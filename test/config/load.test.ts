import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ConfigError, loadConfig } from '../../config/load.ts';
import {
  archiveSchema,
  dicomDestinationSchema,
  dicomwebDestinationSchema,
  fhirDestinationSettings,
} from '../../config/peers.ts';
import { auditSchema, configSchema } from '../../config/schema.ts';

function siteFile(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sonogate-config-')), 'site.yaml');
  writeFileSync(file, text);
  return file;
}

function complaint(environment: Record<string, string>, overrides = {}): string {
  try {
    loadConfig(environment, overrides);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('configuration', () => {
  it('starts with only the defaults', () => {
    const config = loadConfig({});
    expect(config.dicom.port).toBe(11112);
    expect(config.http.port).toBe(8080);
    expect(config.dicom.aeTitle).toBe('SONOGATE');
    expect(config.roles).toEqual(['api', 'dimse', 'worker', 'delivery']);
  });

  it('keeps every setting of the schema in default.yaml, with a comment', () => {
    const text = readFileSync(new URL('../../config/default.yaml', import.meta.url), 'utf8');
    const tree = parse(text) as Record<string, unknown>;
    for (const [key, schema] of Object.entries(configSchema.shape)) {
      if (schema.safeParse(undefined).success) expect(text).toContain(`# ${key}:`);
      else expect(Object.keys(tree)).toContain(key);
    }
    for (const key of Object.keys(configSchema.shape)) {
      expect(text, `${key} has no comment above it`).toMatch(
        new RegExp(`# .*\\n(# )?${key}:|${key}:\\n  #`),
      );
    }
  });

  it('names every setting of destinations, archives and the audit in the comments of default.yaml', () => {
    const text = readFileSync(new URL('../../config/default.yaml', import.meta.url), 'utf8');
    const shapes = [
      dicomDestinationSchema.shape,
      dicomwebDestinationSchema.shape,
      fhirDestinationSettings.shape,
      auditSchema.shape,
      ...archiveSchema.options.map(({ shape }) => shape),
    ];
    const keys = new Set(shapes.flatMap((shape) => Object.keys(shape)));
    expect([...keys].filter((key) => !new RegExp(`\\b${key}\\b`).test(text))).toEqual([]);
  });

  it('lets the environment override the site file, and the site file override the defaults', () => {
    const file = siteFile('http: { port: 9000 }\ndicom: { port: 9001, aeTitle: WARD3 }\n');
    const config = loadConfig({ SONOGATE_CONFIG: file, SONOGATE_DICOM_PORT: '4242' });
    expect(config.http.port).toBe(9000);
    expect(config.dicom.port).toBe(4242);
    expect(config.dicom.aeTitle).toBe('WARD3');
    expect(config.http.host).toBe('127.0.0.1');
  });

  it('reads every environment name that operators rely on', () => {
    const config = loadConfig({
      SONOGATE_DATA_DIR: '/srv/sonogate',
      SONOGATE_HTTP_PORT: '1',
      SONOGATE_DICOM_PORT: '2',
      SONOGATE_AE_TITLE: 'GATE',
      SONOGATE_ROLES: 'api, worker',
      SONOGATE_LOG_LEVEL: 'debug',
      DATABASE_URL: 'postgres://u:p@db/x',
      REDIS_URL: 'redis://queue:6379',
      SONOGATE_BLOB_URL: 's3://key:secret@s3.example.org/bucket?region=eu-west-1',
    });
    expect(config).toMatchObject({
      dataDir: '/srv/sonogate',
      http: { port: 1 },
      dicom: { port: 2, aeTitle: 'GATE' },
      roles: ['api', 'worker'],
      logging: { level: 'debug' },
      databaseUrl: 'postgres://u:p@db/x',
      redisUrl: 'redis://queue:6379',
      blobUrl: { endpoint: 'https://s3.example.org', bucket: 'bucket', region: 'eu-west-1' },
    });
  });

  it('does not repeat the secret in a malformed storage address', () => {
    const complained = complaint({ SONOGATE_BLOB_URL: 's3://key:hush@s3.example.org' });
    expect(complained).toContain('blobUrl: allowed: s3://key:secret@host/bucket?region=…');
    expect(complained).not.toContain('hush');
  });

  it('identifies a misspelt setting', () => {
    expect(complaint({ SONOGATE_CONFIG: siteFile('htpp: { port: 1 }') })).toContain(
      'htpp: is not a setting',
    );
    expect(complaint({ SONOGATE_CONFIG: siteFile('http: { prot: 1 }') })).toContain(
      'http.prot: is not a setting',
    );
  });

  it('gives a second process on a machine its own monitoring port by the environment', () => {
    const settings = { monitoring: { host: '127.0.0.1', port: 9464 } };
    const file = siteFile(JSON.stringify(settings));
    const worker = loadConfig({ SONOGATE_CONFIG: file, SONOGATE_MONITORING_PORT: '9465' });
    expect(worker.monitoring).toEqual({ host: '127.0.0.1', port: 9465 });
  });

  it('reports all wrong values at once, each with what was found and what is allowed', () => {
    const message = complaint({
      SONOGATE_HTTP_PORT: '70000',
      SONOGATE_ROLES: 'api,scanner',
      SONOGATE_AE_TITLE: 'A-TITLE-OF-SEVENTEEN',
    });
    expect(message).toContain('http.port: found 70000; allowed: at most 65535');
    expect(message).toContain('roles.1: found "scanner"; allowed: api, dimse, worker, delivery');
    expect(message).toContain('dicom.aeTitle: found "A-TITLE-OF-SEVENTEEN"; allowed: 1 to 16');
  });

  it('refuses a rule that delivers to a destination that is not configured', () => {
    const file = siteFile(
      'routing: { rules: [{ name: r, run: { endpoint: us/obstetric/interpret }, deliverTo: [pcas] }] }\n' +
        'destinations: [{ type: dicom, name: pacs, host: localhost, port: 104, aeTitle: PACS }]\n',
    );
    expect(complaint({ SONOGATE_CONFIG: file })).toContain(
      'routing.rules.0.deliverTo.0: found "pcas"; allowed: pacs',
    );
  });

  describe('a destination of de-identified copies', () => {
    const pacs = { type: 'dicom', host: 'localhost', port: 104, aeTitle: 'PACS' };
    const research = { ...pacs, name: 'research', deidentification: {} };
    const destinations = [{ ...pacs, name: 'archive' }, research];
    const load = (rule: object) =>
      loadConfig({}, { destinations, routing: { rules: [{ name: 'rule', ...rule }] } });

    it('is referenced by deidentifyTo, and by default holds images without a known region', () => {
      const [, loaded] = load({ deidentifyTo: ['research'] }).destinations;
      expect(loaded).toMatchObject({
        deidentification: {
          dates: 'shifted',
          withoutRegions: 'hold',
          patientCharacteristics: false,
        },
      });
    });

    it.each([
      ['forwardTo', { forwardTo: ['research'] }, 'found "research"; allowed: archive'],
      [
        'deliverTo',
        { run: { endpoint: 'us/echo/interpret' }, deliverTo: ['research'] },
        'found "research"; allowed: archive',
      ],
      ['deidentifyTo', { deidentifyTo: ['archive'] }, 'found "archive"; allowed: research'],
    ])(
      'receives only copies, and no other destination receives copies: %s',
      (list, rule, complaint) => {
        expect(() => load(rule)).toThrow(`routing.rules.0.${list}.0: ${complaint}`);
      },
    );

    it('neither has an alternate nor is one', () => {
      const both = (first: object, second: object) => () =>
        loadConfig({}, { destinations: [first, second] });
      const [archive] = destinations;
      expect(both({ ...research, alternate: 'archive' }, archive ?? {})).toThrow(
        'destinations.0.alternate: a destination for de-identified objects cannot have an alternate',
      );
      expect(both({ ...archive, alternate: 'research' }, research)).toThrow(
        'destinations.0.alternate: found "research"',
      );
    });
  });

  it('reports that an EHR cannot have an alternate', () => {
    const ehr = {
      type: 'fhir',
      name: 'ehr',
      baseUrl: 'https://ehr.example/fhir',
      resultSystem: 'https://sonogate.example/results',
      patientIdentifierSystems: {},
    };
    expect(loadConfig({}, { destinations: [ehr] }).destinations).toHaveLength(1);
    expect(() => loadConfig({}, { destinations: [{ ...ehr, alternate: 'pacs' }] })).toThrow(
      'destinations.0.alternate: an EHR cannot have an alternate',
    );
  });

  it.each([
    ['itself', 'pacs'],
    ['nothing that is configured', 'archive'],
    ['an EHR', 'ehr'],
  ])('refuses an alternate that is %s', (_, alternate) => {
    const destinations = [
      { type: 'dicom', name: 'pacs', host: 'localhost', port: 104, aeTitle: 'PACS', alternate },
      { type: 'dicomweb', name: 'vna', baseUrl: 'http://localhost/dicom-web' },
      {
        type: 'fhir',
        name: 'ehr',
        baseUrl: 'http://localhost/fhir',
        resultSystem: 'http://localhost/result',
        patientIdentifierSystems: {},
      },
    ];
    expect(complaint({}, { destinations })).toContain(
      `destinations.0.alternate: found "${alternate}"; allowed: vna`,
    );
  });

  it('fills in the defaults of a completion that a source states only in part', () => {
    const site = `sources: [
      { name: a, callingAeTitles: [A], addresses: [10.0.0.1], completion: { signal: quiet-time } },
      { name: b, callingAeTitles: [B], addresses: [10.0.0.2], completion: { quietSeconds: 90 } } ]`;
    const { sources } = loadConfig({ SONOGATE_CONFIG: siteFile(site) });
    expect(sources.map(({ completion }) => completion)).toEqual([
      { signal: 'quiet-time', quietSeconds: 30, afterReleaseSeconds: 5 },
      { signal: 'quiet-time', quietSeconds: 90, afterReleaseSeconds: 5 },
    ]);
  });

  it('refuses a password without TLS, an unknown source, and mails whose links lead nowhere', () => {
    const alerts = {
      server: { host: 'smtp.example' },
      from: 'sonogate@hospital.example',
      lists: [{ name: 'ward', to: ['a@hospital.example'], sources: ['ward-9'] }],
    };
    const text = complaint({}, { alerts });
    expect(text).toContain('alerts: needs http.publicUrl');
    expect(text).toContain('alerts.lists.0.sources.0: found "ward-9"; allowed: this-machine');
    const server = { host: 'smtp.example', tls: 'none', user: 'u', password: { env: 'P' } };
    expect(complaint({}, { alerts: { ...alerts, server } })).toContain(
      'a password is only sent with TLS',
    );
  });

  it('refuses two destinations with the same name', () => {
    const pacs = '{ type: dicom, name: pacs, host: localhost, port: 104, aeTitle: PACS }';
    expect(complaint({ SONOGATE_CONFIG: siteFile(`destinations: [${pacs}, ${pacs}]`) })).toContain(
      'destinations.1.name: found "pacs" twice',
    );
  });

  it.each([
    ['sources', '{ name: twice, callingAeTitles: [A], addresses: [10.0.0.1] }'],
    ['archives', '{ type: dicom, name: twice, host: localhost, port: 104, aeTitle: A }'],
  ])('refuses two %s with the same name', (list, entry) => {
    const file = siteFile(`${list}: [${entry}, ${entry}]`);
    expect(complaint({ SONOGATE_CONFIG: file })).toContain(`${list}.1.name: found "twice" twice`);
  });

  it('refuses two rules with the same name, because a study has one request for each', () => {
    const rule = '{ name: twice, hold: true }';
    expect(
      complaint({ SONOGATE_CONFIG: siteFile(`routing: { rules: [${rule}, ${rule}] }`) }),
    ).toContain('routing.rules.1.name: found "twice" twice');
  });

  it.each([
    [
      'routing: { rules: [{ name: a, hold: true, when: { modality: { match: US } } }] }',
      'routing.rules.0.when.modality: found {"match":"US"}; allowed: a value, or one of equals, matches',
    ],
    ['http: { publicUrl: us.hospital.example }', 'allowed: a URL that begins with http:// or'],
    ['databaseUrl: mysql://host/x', 'allowed: postgres://user:password@host/database'],
    ['redisUrl: host', 'allowed: redis://host:6379'],
    [
      'sources: [{ name: a, callingAeTitles: [A], addresses: [cart.local] }]',
      'sources.0.addresses.0: found "cart.local"; allowed: an IP address such as',
    ],
    [
      'routing: { rules: [{ name: a, hold: true, when: { modality: { matches: "(" } } }] }',
      'modality.matches: is not a valid regular expression',
    ],
  ])('says what is allowed instead of %s', (text, expected) => {
    expect(complaint({ SONOGATE_CONFIG: siteFile(text) })).toContain(expected);
  });

  it('reports a site file that is missing or is not YAML', () => {
    expect(complaint({ SONOGATE_CONFIG: '/no/such/file.yaml' })).toContain('cannot be read');
    expect(complaint({ SONOGATE_CONFIG: siteFile('http: [') })).toContain('is not valid YAML');
  });

  it('names the line of an error in the YAML, but never quotes it, because it may be a password', () => {
    const text = 'http: { port: 1 }\nredisUrl: "redis://:Sup3r"Secret@host:6379"\n';
    const said = complaint({ SONOGATE_CONFIG: siteFile(text) });
    expect(said).toContain('line 2, is not valid YAML');
    expect(said).not.toMatch(/Sup3r|Secret/);
  });

  it('says what to do about a value that YAML takes for an alias', () => {
    const said = complaint({ SONOGATE_CONFIG: siteFile('redisUrl: *secret') });
    expect(said).toContain('a value that begins with * must be in quotes');
    expect(said).not.toContain('secret');
  });

  it.each(['hello', '- dicom'])('says that the site file “%s” contains no settings', (text) => {
    expect(complaint({ SONOGATE_CONFIG: siteFile(text) })).toContain('contains no settings');
  });
});
